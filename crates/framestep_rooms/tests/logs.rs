//! What each log promises: in memory, in files, in NATS.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use framestep_rooms::log::{FileLog, Log, LogError, MemoryLog};
use framestep_rooms::{Entry, Player, Topic};

#[cfg(feature = "nats")]
use framestep_rooms::log::NatsLog;
#[cfg(feature = "nats")]
#[path = "support/newest.rs"]
mod newest;
#[path = "support/patience.rs"]
mod patience;
#[cfg(feature = "nats")]
mod support;

use patience::patient;

fn input(player: &str) -> Topic {
    Topic::Input("arena".into(), Player::new(player).unwrap())
}

/// The entries of a shard from `from` on, to the end.
async fn all(log: &dyn Log, shard: u32, from: u64) -> Vec<Entry> {
    let mut reader = log.read(shard, from).await.unwrap();
    let mut all = Vec::new();
    loop {
        let batch = reader.next(Duration::from_millis(100)).await.unwrap();
        all.extend(batch.entries);
        if batch.is_end {
            return all;
        }
    }
}

/// What all logs promise.
async fn promises(log: &dyn Log) {
    assert_eq!(log.shards().await, Ok(0));
    log.prepare(2, 4_096).await.unwrap();
    log.prepare(2, 4_096).await.unwrap();
    assert_eq!(log.shards().await, Ok(2));
    let LogError::Failed(why) = log.prepare(3, 4_096).await.unwrap_err() else {
        panic!("it is made for two shards");
    };
    assert!(why.contains("made for 2 shards, not for 3"), "{why}");

    // Numbers without gaps, each shard for itself; an id once.
    assert_eq!(
        (
            log.ends(0).await.unwrap().first,
            log.ends(0).await.unwrap().last
        ),
        (1, 0)
    );
    assert_eq!(log.append(0, &input("alice"), "a", b"one").await, Ok(1));
    assert_eq!(log.append(0, &input("bob"), "b", b"two").await, Ok(2));
    assert_eq!(log.append(0, &input("alice"), "a", b"one").await, Ok(1));
    assert_eq!(log.append(1, &input("alice"), "a", b"one").await, Ok(1));

    // A tick only after the last one, and the same one again is the same.
    assert_eq!(log.tick(0, 7, "t1", b"tick").await, Err(LogError::Refused));
    assert_eq!(log.tick(0, 0, "t1", b"tick").await, Ok(3));
    assert_eq!(
        log.append(0, &Topic::Answer("arena".into()), "c", b"")
            .await,
        Ok(4)
    );
    assert_eq!(log.tick(0, 0, "t1", b"tick").await, Ok(3));
    assert_eq!(log.tick(0, 0, "t2", b"tock").await, Err(LogError::Refused));
    assert_eq!(log.tick(0, 3, "t2", b"tock").await, Ok(5));

    // A reader reads what is there, and what comes.
    let entries = all(log, 0, 2).await;
    let topics: Vec<_> = entries
        .iter()
        .map(|entry| (entry.seq, entry.topic.clone().unwrap()))
        .collect();
    let expected = [
        (2, input("bob")),
        (3, Topic::Tick),
        (4, Topic::Answer("arena".into())),
        (5, Topic::Tick),
    ];
    assert_eq!(topics, expected);
    assert_eq!(&*entries[0].body, b"two");
    let mut reader = log.read(0, 6).await.unwrap();
    let batch = reader.next(Duration::from_millis(300)).await.unwrap();
    assert!(batch.entries.is_empty() && batch.is_end);
    log.append(0, &input("eve"), "d", b"six").await.unwrap();
    let batch = patient(reader.next(Duration::from_secs(60)))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (batch.entries.len(), batch.entries[0].seq, batch.is_end),
        (1, 6, true)
    );

    // Many at once.
    for number in 7..=600_u64 {
        let id = format!("many-{number}");
        assert_eq!(
            log.append(0, &input("alice"), &id, &number.to_le_bytes())
                .await,
            Ok(number)
        );
    }
    let entries = all(log, 0, 1).await;
    assert!(entries.iter().map(|entry| entry.seq).eq(1..=600));
    assert_eq!(log.tick(0, 5, "t3", b"tick").await, Ok(601));

    beside(log).await;

    // Trimmed: entries before may be there or not, none after is lost. Ticks go on.
    log.trim(0, 500).await.unwrap();
    let ends = log.ends(0).await.unwrap();
    assert!(ends.first <= 500 && ends.last == 601, "{ends:?}");
    assert_eq!(all(log, 0, 500).await.first().unwrap().seq, 500);
    assert_eq!(all(log, 0, 1).await.first().unwrap().seq, ends.first);
    assert_eq!(log.append(0, &input("alice"), "last", b"").await, Ok(602));
}

/// What all logs promise of values and messages.
async fn beside(log: &dyn Log) {
    // Values are compared and replaced.
    assert_eq!(log.kept("0.save.1").await, Ok(None));
    let first = log.keep("0.save.1", 0, b"one").await.unwrap();
    assert_eq!(
        log.keep("0.save.1", 0, b"two").await,
        Err(LogError::Refused)
    );
    let second = log.keep("0.save.1", first, b"two").await.unwrap();
    assert_eq!(
        log.keep("0.save.1", first, b"three").await,
        Err(LogError::Refused)
    );
    let kept = log.kept("0.save.1").await.unwrap().unwrap();
    assert_eq!((kept.revision, &*kept.body), (second, &b"two"[..]));
    let large: Vec<u8> = (0..3_000_000_u32)
        .map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[2])
        .collect();
    log.keep("0.save.1", second, &large).await.unwrap();
    assert!(*log.kept("0.save.1").await.unwrap().unwrap().body == large);

    // Messages reach those who hear them.
    let mut inbox = log.hear("view.*.arena").await.unwrap();
    // A server has the subscription before what follows it on the same connection.
    log.say("view.7.other", b"no".to_vec()).await.unwrap();
    log.say("view.7.arena", b"yes".to_vec()).await.unwrap();
    let message = patient(inbox.next()).await.unwrap().unwrap();
    assert_eq!(
        (message.channel.as_str(), &*message.body),
        ("view.7.arena", &b"yes"[..])
    );
}

#[tokio::test]
async fn a_log_in_memory_keeps_the_promises() {
    promises(&MemoryLog::new()).await;
}

/// A folder that ends with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("framestep-rooms-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<_> = fs::read_dir(&self.0)
            .unwrap()
            .map(|file| file.unwrap().path())
            .collect();
        files.retain(|file| file.extension().is_some_and(|end| end == "log"));
        files.sort();
        files
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn a_log_in_files_keeps_the_promises_and_is_the_same_when_it_is_opened_again() {
    let folder = Folder::new("files");
    let log = FileLog::open(&folder.0).unwrap();
    promises(&log).await;
    let (entries, kept) = (all(&log, 0, 500).await, log.kept("0.save.1").await);
    let busy = FileLog::open(&folder.0).unwrap_err();
    assert!(
        busy.to_string().contains("another process has the log"),
        "{busy}"
    );
    drop(log);
    let log = FileLog::open(&folder.0).unwrap();
    assert_eq!(log.notes(), [""; 0]);
    assert_eq!(
        (
            all(&log, 0, 500).await,
            log.kept("0.save.1").await,
            log.shards().await
        ),
        (entries, kept, Ok(2))
    );
    // Ids and the last tick, too.
    assert_eq!(log.append(0, &input("alice"), "last", b"").await, Ok(602));
    assert_eq!(log.tick(0, 5, "t4", b"").await, Err(LogError::Refused));
    assert_eq!(log.tick(0, 601, "t4", b"").await, Ok(603));
}

#[tokio::test]
async fn a_torn_tail_is_noticed_and_cut_at_every_byte() {
    let folder = Folder::new("torn");
    let write = async || {
        let log = FileLog::open(&folder.0).unwrap();
        for (number, body) in [b"one", b"two", b"six"].into_iter().enumerate() {
            log.append(0, &input("alice"), &number.to_string(), body)
                .await
                .unwrap();
        }
    };
    write().await;
    let file = folder.files().pop().unwrap();
    let whole = fs::read(&file).unwrap();
    let last = whole.len() - whole.len() / 3;
    for length in last..whole.len() {
        fs::write(&file, &whole[..length]).unwrap();
        let log = FileLog::open(&folder.0).unwrap();
        assert_eq!(all(&log, 0, 1).await.len(), 2);
        if length > last {
            let [note] = log.notes() else {
                panic!("{:?}", log.notes());
            };
            assert!(
                note.contains("entry 3 was not written completely"),
                "{note}"
            );
        }
        assert_eq!(log.append(0, &input("alice"), "new", b"").await, Ok(3));
        drop(log);
        let log = FileLog::open(&folder.0).unwrap();
        assert_eq!((log.notes().len(), all(&log, 0, 1).await.len()), (0, 3));
    }
    // A changed byte before the end is not a torn tail.
    for at in [0, 5, 12, last - 1] {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(&file, &changed).unwrap();
        fs::File::create(folder.0.join("shard-00000-00000000000000000004.log"))
            .unwrap()
            .write_all(b"x")
            .unwrap();
        let error = FileLog::open(&folder.0).unwrap_err();
        assert!(error.to_string().contains("is damaged"), "{error}");
    }
}

/// Appends entries until the log refuses one. Returns the numbers of those that it has acknowledged.
async fn fill(log: &dyn Log) -> Vec<u64> {
    let mut acknowledged = Vec::new();
    for number in 0..2_000 {
        let id = format!("fill-{number}");
        match log.append(0, &input("alice"), &id, &[7; 1_000]).await {
            Ok(seq) => acknowledged.push(seq),
            Err(_) => return acknowledged,
        }
    }
    panic!("the disk is never full");
}

/// Set for the process whose files may have 64 KiB.
#[cfg(unix)]
const FULL: &str = "FRAMESTEP_ROOMS_TEST_FULL";

#[cfg(unix)]
#[tokio::test]
async fn a_full_disk_refuses_entries_and_keeps_those_that_were_acknowledged() {
    const NAME: &str = "a_full_disk_refuses_entries_and_keeps_those_that_were_acknowledged";
    if let Some(folder) = std::env::var_os(FULL) {
        let log = FileLog::open(folder).unwrap();
        log.prepare(1, 4_096).await.unwrap();
        let acknowledged = fill(&log).await.len();
        let error = log.append(0, &input("bob"), "more", &[7; 1_000]).await;
        println!(
            "\n{acknowledged} acknowledged, then: {}",
            error.unwrap_err()
        );
        return;
    }
    let folder = Folder::new("full");
    // A limit of the size of files answers as a full disk does: a write fails in the middle.
    let output = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 128; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture"])
        .env(FULL, &folder.0)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let line = said
        .lines()
        .find(|line| line.contains(" acknowledged, then: "));
    let (count, why) = line.unwrap().split_once(" acknowledged, then: ").unwrap();
    let count: usize = count.parse().unwrap();
    assert!(count > 50 && why.contains("too large"), "{count}: {why}");
    // There is room again.
    let log = FileLog::open(&folder.0).unwrap();
    assert_eq!(log.notes(), [""; 0]);
    assert_eq!(all(&log, 0, 1).await.len(), count);
    let next = log.append(0, &input("bob"), "next", b"").await;
    assert_eq!(next, Ok(count as u64 + 1));
}

#[cfg(feature = "nats")]
#[tokio::test]
async fn a_nats_server_without_room_refuses_entries_until_the_log_is_trimmed() {
    let Some(server) = support::NatsServer::start_with("full", "max_file_store: 600KB").await
    else {
        return;
    };
    let log = NatsLog::connect(&server.url()).await.unwrap();
    // More than there is, for all shards together.
    let error = log.prepare(1, 4_096).await.unwrap_err().to_string();
    assert!(error.contains("NATS has not enough storage"), "{error}");
    let log = log.max_bytes(500_000);
    log.prepare(1, 4_096).await.unwrap();
    let acknowledged = fill(&log).await;
    assert!(acknowledged.len() > 50, "{}", acknowledged.len());
    let why = log.append(0, &input("bob"), "more", &[7; 1_000]).await;
    assert!(matches!(why, Err(LogError::Full(_))), "{why:?}");
    let entries = all(&log, 0, 1).await;
    for seq in &acknowledged {
        assert!(entries.iter().any(|entry| entry.seq == *seq), "entry {seq}");
    }
    log.trim(0, entries.last().unwrap().seq).await.unwrap();
    let appended = async {
        while log.append(0, &input("bob"), "next", b"").await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    patient(appended).await.expect("it takes entries again");
}

#[cfg(feature = "nats")]
#[tokio::test]
async fn a_log_in_nats_keeps_the_promises_also_after_its_server_was_killed() {
    let Some(mut server) = support::NatsServer::start("promises").await else {
        return;
    };
    let log = NatsLog::connect(&server.url()).await.unwrap();
    promises(&log).await;
    let size = 2 << 20;
    let large = log
        .append(0, &input("alice"), "large", &vec![7; size])
        .await;
    let limit = 1 << 20;
    assert_eq!(large, Err(LogError::TooLarge { size, limit }));
    let entries = all(&log, 0, 500).await;
    server.kill_and_restart().await;
    // The same connection, made anew.
    let answers = async {
        while log.ends(0).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    patient(answers).await.expect("it answers again");
    assert_eq!(all(&log, 0, 500).await, entries);
    assert_eq!(log.tick(0, 5, "t4", b"").await, Err(LogError::Refused));
    assert_eq!(log.tick(0, 601, "t4", b"").await, Ok(603));
    // Another game on the same server.
    promises(&log.clone().named("other-")).await;
}

#[cfg(feature = "nats")]
#[tokio::test]
async fn a_log_that_exists_with_another_number_of_replicas_is_refused_with_the_command_that_changes_it()
 {
    let Some(program) = newest::newest() else {
        eprintln!("1 test skipped: there is no nats-server 2.15.1 or later in target/nats-servers");
        return;
    };
    let server = support::NatsServer::start_program(&program, "replicas", "")
        .await
        .unwrap();
    let log = NatsLog::connect(&server.url()).await.unwrap();
    log.prepare(2, 4_096).await.unwrap();
    log.clone().replicas(1).prepare(2, 4_096).await.unwrap();
    let LogError::Failed(why) = log.replicas(3).prepare(2, 4_096).await.unwrap_err() else {
        panic!("it has one replica");
    };
    let expected = "exists with 1 replicas, not with 3";
    assert!(
        why.contains(expected) && why.contains("nats stream edit ROOMS --replicas 3"),
        "{why}"
    );
}

#[cfg(feature = "nats")]
#[tokio::test]
async fn a_log_whose_stream_drops_messages_by_itself_is_refused() {
    let Some(server) = support::NatsServer::start("limits").await else {
        return;
    };
    let context = async_nats::jetstream::new(async_nats::connect(server.url()).await.unwrap());
    let config = async_nats::jetstream::stream::Config {
        name: "LOG_1".to_owned(),
        subjects: vec!["log.1.>".to_owned()],
        max_age: Duration::from_secs(3_600),
        ..Default::default()
    };
    context.create_stream(config).await.unwrap();
    let log = NatsLog::connect(&server.url()).await.unwrap();
    let LogError::Failed(why) = log.prepare(2, 4_096).await.unwrap_err() else {
        panic!("entries get lost");
    };
    assert!(
        why.contains("the stream `LOG_1` drops messages by itself"),
        "{why}"
    );
}
