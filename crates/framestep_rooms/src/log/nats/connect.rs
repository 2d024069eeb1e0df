//! Connecting to a server, or to several.

use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, ServerAddr, jetstream};
use tokio::time::timeout;

use super::violations::Violations;
use super::{ANSWER, Again, NatsLog};
use crate::entry::is_name;
use crate::log::LogError;

/// How often a server is asked whether it is there.
const PING: Duration = Duration::from_secs(2);

impl NatsLog {
    /// Connects to a server, such as `nats://127.0.0.1:4222` or `nats://user:password@10.0.0.5`, or to
    /// several, separated by commas.
    ///
    /// With `tls://`, nothing is sent that is not encrypted. Certificates are checked against those of the system, or
    /// against those in the file that the environment variable `SSL_CERT_FILE` names.
    ///
    /// Answers come on `_INBOX_USER.>` for a user in the address, and on `_INBOX.>` without one. So permissions can
    /// let each user subscribe to its own.
    ///
    /// # Errors
    ///
    /// If no server answers, or it does not accept the user, or its certificate is not accepted.
    pub async fn connect(url: &str) -> Result<Self, LogError> {
        let options = match user_of(url) {
            Some((user, password)) => {
                let inbox = is_name(&user).then(|| format!("_INBOX_{user}"));
                let options = ConnectOptions::with_user_and_password(user, password);
                options.custom_inbox_prefix(inbox.as_deref().unwrap_or("_INBOX"))
            }
            None => ConnectOptions::new(),
        };
        Self::connect_with(url, options).await
    }

    /// The same with options for the connection, such as a name and password, or
    /// [certificates](ConnectOptions::add_root_certificates). Their timeouts, pauses and callback of events are
    /// replaced: the log hears there what the user may not do.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect).
    pub async fn connect_with(url: &str, options: ConnectOptions) -> Result<Self, LogError> {
        let shown = without_users(url);
        let urls: Vec<&str> = url.split(',').map(str::trim).collect();
        let violations = Violations::default();
        let hears = violations.clone();
        let options = options
            .connection_timeout(ANSWER)
            .request_timeout(Some(ANSWER))
            // Two of them without an answer end a connection: a server that hangs is left within seconds.
            .ping_interval(PING)
            .event_callback(move |event| {
                hears.hear(&event);
                std::future::ready(())
            })
            .reconnect_delay_callback(before_attempt)
            .max_reconnects(None);
        let again = Again {
            urls: urls.iter().map(|url| (*url).to_owned()).collect(),
            options: options.clone(),
        };
        let connecting = timeout(ANSWER * 2, Box::pin(options.connect(urls))).await;
        let client = match connecting {
            Ok(Ok(client)) => client,
            Ok(Err(error)) if is_wrong_user(&error) => {
                return Err(LogError::Failed(format!(
                    "the NATS server at {shown} does not accept the user and password, or there are none in \
                     the address: `nats://USER:PASSWORD@HOST`"
                )));
            }
            Ok(Err(error)) if is_wrong_certificate(&error) => {
                return Err(LogError::Failed(format!(
                    "the certificate of the NATS server at {shown} is not accepted: {error}. The environment variable \
                     `SSL_CERT_FILE` names a file with those to trust"
                )));
            }
            Ok(Err(error)) => {
                return Err(LogError::Unreachable(format!(
                    "no NATS server at {shown}: {error}. Start one with `nats-server -js` (Debian: `apt \
                     install nats-server`), or begin without one: `Server::on(MemoryLog::new())`"
                )));
            }
            Err(_) => {
                return Err(LogError::Unreachable(format!(
                    "no answer from {shown} in time"
                )));
            }
        };
        // Of an inbox `PREFIX.NAME`.
        let inbox = client.new_inbox();
        violations.set_inbox(inbox.rsplit_once('.').map_or("", |(prefix, _)| prefix));
        let mut context = jetstream::new(client.clone());
        context.set_timeout(ANSWER);
        Ok(NatsLog {
            context,
            client,
            prefix: "".into(),
            replicas: None,
            bytes: None,
            largest: Arc::default(),
            violations,
            again: Arc::new(again),
            players: Arc::default(),
        })
    }

    /// The connection on which players are heard. It is made when it is asked for.
    pub(super) async fn players(&self) -> Result<Client, LogError> {
        let Again { urls, options } = &*self.again;
        let connect = || async {
            let connected =
                timeout(ANSWER, Box::pin(options.clone().connect(urls.as_slice()))).await;
            let unreachable = |why: &dyn std::fmt::Display| LogError::Unreachable(why.to_string());
            connected
                .map_err(|error| unreachable(&error))?
                .map_err(|error| unreachable(&error))
        };
        self.players.get_or_try_init(connect).await.cloned()
    }
}

/// How long it waits before an attempt to connect again: rooms stand still meanwhile, so not the four seconds that the
/// client would.
fn before_attempt(attempts: usize) -> Duration {
    let doublings = u32::try_from(attempts).unwrap_or(u32::MAX).min(4);
    Duration::from_millis(50) * (1 << doublings)
}

fn is_wrong_user(error: &ConnectError) -> bool {
    matches!(
        error.kind(),
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication
    )
}

fn is_wrong_certificate(error: &ConnectError) -> bool {
    // The kind is that of any other error of the connection.
    error.to_string().contains("invalid peer certificate")
}

/// The user and password of an address.
fn user_of(url: &str) -> Option<(String, String)> {
    url.split(',').find_map(|url| {
        let address: ServerAddr = url.trim().parse().ok()?;
        Some((
            address.username()?.to_owned(),
            address.password()?.to_owned(),
        ))
    })
}

/// Addresses without passwords, for messages.
fn without_users(url: &str) -> String {
    let hosts: Vec<&str> = url
        .split(',')
        .map(|url| url.rsplit_once('@').map_or(url, |(_, host)| host))
        .collect();
    hosts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_is_lost_is_tried_again_within_a_second_however_long_it_was_away() {
        let waits = [0, 1, 2, 3, 4, 5, 1_000, usize::MAX].map(|it| before_attempt(it).as_millis());
        assert_eq!(waits, [50, 100, 200, 400, 800, 800, 800, 800]);
    }
}
