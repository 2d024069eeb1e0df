//! The executables of newer servers of NATS than that of the system.

use std::path::{Path, PathBuf};

/// The newest `nats-server` that `scripts/lib/nats-server` has put into `target/nats-servers`, if it can
/// have replicas.
pub(crate) fn newest() -> Option<PathBuf> {
    // Beside the folder for temporary files of tests.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent()?;
    let number = |version: &str| -> Vec<u64> {
        version
            .split('.')
            .map(|part| part.parse().unwrap_or(0))
            .collect()
    };
    let versions = std::fs::read_dir(target.join("nats-servers")).ok()?;
    let names = versions.filter_map(|it| it.ok()?.file_name().into_string().ok());
    let newest = names.max_by_key(|name| number(name))?;
    let program = target
        .join("nats-servers")
        .join(&newest)
        .join("nats-server");
    (number(&newest) >= vec![2, 15, 1] && program.exists()).then_some(program)
}
