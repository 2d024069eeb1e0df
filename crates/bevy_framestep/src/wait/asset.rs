//! Waits for assets.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bevy_asset::{
    Asset, AssetEvent, AssetId, AssetLoadError, AssetPath, AssetServer, LoadState,
    RecursiveDependencyLoadState, UntypedAssetId, UntypedAssetLoadFailedEvent, UntypedHandle,
};
use bevy_ecs::prelude::*;
use framestep::Phase;
use futures::future::FusedFuture;
use futures::{FutureExt, StreamExt};

use super::conditions::Ask;
use super::{Messages, WaitUntilWorld, messages};
use crate::borrow::{Call, with_ref};

/// Why an asset that a script waits for cannot be loaded.
///
/// # Examples
///
/// ```
/// use bevy_asset::{AssetServer, LoadedFolder};
/// use bevy_framestep::prelude::*;
/// use bevy_framestep::{AssetFailed, wait_for_asset};
///
/// async fn level() -> Result<(), AssetFailed> {
///     let level = resource(|assets: &AssetServer| assets.load_folder("level"));
///     wait_for_asset(&level).await?;
///     println!("ready");
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AssetFailed {
    /// The asset or one of its dependencies failed to load.
    Load {
        /// The path that failed. If a dependency had failed before the wait began, and its
        /// error does not contain the path, it is the path of the awaited asset.
        path: Option<AssetPath<'static>>,
        /// The error of the asset server.
        error: Arc<AssetLoadError>,
    },
    /// The asset server does not load this asset: it was added by hand, or nothing holds
    /// a strong handle.
    NotLoading {
        /// The id of the asset.
        id: UntypedAssetId,
    },
}

impl fmt::Display for AssetFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AssetFailed::Load {
                path: Some(path),
                error,
            } => write!(f, "cannot load {path}: {error}"),
            AssetFailed::Load { path: None, error } => write!(f, "cannot load an asset: {error}"),
            AssetFailed::NotLoading { id } => {
                write!(f, "the asset server does not load the asset {id}")
            }
        }
    }
}

impl Error for AssetFailed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            AssetFailed::Load { error, .. } => Some(error),
            AssetFailed::NotLoading { .. } => None,
        }
    }
}

/// Waits until an asset is loaded with all its dependencies. Takes a `&Handle`, an
/// `&UntypedHandle` or an id. Ready at once if the asset is loaded already.
///
/// It keeps the asset alive while it waits.
///
/// # Resumes
///
/// As [`wait_until_world`](crate::wait_until_world) does; in another phase with [`in_phase`](WaitForAsset::in_phase).
/// The asset server finishes loads in `PreUpdate`.
///
/// # Errors
///
/// As soon as the asset or a dependency has failed, or at once if one has failed already. The
/// error contains the path. A loop that tries again must wait for a frame:
/// `AssetServer::reload` begins later.
///
/// # Panics
///
/// If the app has no `AssetPlugin`; and where [`with_ref`](framestep::lend::with_ref) does.
///
/// # Examples
///
/// See [`AssetFailed`].
#[track_caller]
pub fn wait_for_asset(asset: impl Into<UntypedAssetId>) -> WaitForAsset {
    const CALL: Call = Call::wait("wait_for_asset");
    let id = asset.into();
    let server = with_ref(CALL, |world| world.get_resource::<AssetServer>().cloned());
    let Some(server) = server else {
        panic!("waits for assets need `AssetPlugin`, which is part of `DefaultPlugins`");
    };
    WaitForAsset {
        load: Some(Load {
            // Without a strong handle, the asset would be dropped while it loads.
            _keep: server.get_id_handle_untyped(id),
            // They contain the paths. The script checks the state in each run, because the
            // asset server wakes no waker when a dependency has failed, and sends no event if
            // that was before the asset itself existed.
            failures: messages(),
            failed: Vec::new(),
            server,
            id,
            phase: None,
            wait: None,
        }),
    }
}

/// The future of [`wait_for_asset`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitForAsset {
    /// `None` once it has been ready.
    load: Option<Load>,
}

/// An asset that is being loaded.
struct Load {
    server: AssetServer,
    id: UntypedAssetId,
    _keep: Option<UntypedHandle>,
    failures: Messages<UntypedAssetLoadFailedEvent>,
    /// The failures that were read so far.
    failed: Vec<Failed>,
    /// `None`: the home phase.
    phase: Option<Phase>,
    /// `None` until it has been checked once.
    wait: Option<WaitUntilWorld>,
}

impl WaitForAsset {
    /// Resumes in the first run of `phase` after the asset is loaded or has failed, instead
    /// of the home phase. Ready at once if it is so when the wait begins.
    ///
    /// If `phase` is not the home phase, the script is polled in each of its runs.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        match &mut self.load {
            Some(load) if load.wait.is_none() => load.phase = Some(phase),
            _ => panic!("`in_phase` was called on a wait that has begun"),
        }
        self
    }
}

impl Load {
    #[track_caller]
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), AssetFailed>> {
        loop {
            if let Some(wait) = &mut self.wait {
                ready!(Pin::new(wait).poll(cx));
                while let Some(Some(failure)) = self.failures.next().now_or_never() {
                    self.failed.push((failure.id, failure.path));
                }
            }
            if let Some(result) = state(&self.server, self.id, &self.failed) {
                return Poll::Ready(result);
            }
            let (server, id) = (self.server.clone(), self.id);
            let wait = WaitUntilWorld::of(Loaded { server, id });
            self.wait = Some(match self.phase {
                Some(phase) => wait.in_phase(phase),
                None => wait,
            });
        }
    }
}

/// Whether an asset is loaded or has failed.
struct Loaded {
    server: AssetServer,
    id: UntypedAssetId,
}

impl Ask for Loaded {
    fn holds(&mut self, _: &World) -> bool {
        state(&self.server, self.id, &[]).is_some()
    }

    fn name(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.server.get_path(self.id) {
            Some(path) => write!(f, "the asset {path}"),
            None => write!(f, "the asset {}", self.id),
        }
    }
}

impl Future for WaitForAsset {
    type Output = Result<(), AssetFailed>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(load) = &mut self.load else {
            panic!("`wait_for_asset` was polled after it had ended");
        };
        let result = ready!(load.poll(cx));
        self.load = None;
        Poll::Ready(result)
    }
}

impl FusedFuture for WaitForAsset {
    fn is_terminated(&self) -> bool {
        self.load.is_none()
    }
}

impl fmt::Debug for WaitForAsset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitForAsset")
            .field("done", &self.is_terminated())
            .finish_non_exhaustive()
    }
}

/// Waits for the next `AssetEvent` of one asset: `Modified` when its file has changed and is
/// loaded again, `Removed`, and the others. For the events of all assets of a type, use
/// [`messages`]`::<AssetEvent<A>>()`.
///
/// It does not keep the asset alive. A loop around it can miss an event between two rounds.
///
/// # Resumes
///
/// See [`next_message`](crate::next_message). Bevy writes these messages in `PostUpdate`.
///
/// # Panics
///
/// If the app has no such assets; and where [`with_ref`](framestep::lend::with_ref) does.
///
/// # Examples
///
/// ```
/// use bevy_asset::{Asset, AssetEvent, Handle};
/// use bevy_framestep::prelude::*;
///
/// async fn hot_reload<A: Asset>(level: Handle<A>) {
///     loop {
///         if let AssetEvent::Modified { .. } = next_asset_event(&level).await {
///             println!("the level has changed");
///         }
///     }
/// }
/// ```
#[track_caller]
pub fn next_asset_event<A: Asset>(asset: impl Into<AssetId<A>>) -> NextAssetEvent<A> {
    NextAssetEvent {
        asset: asset.into(),
        events: Some(messages()),
    }
}

/// The future of [`next_asset_event`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct NextAssetEvent<A: Asset> {
    asset: AssetId<A>,
    /// `None` once it has been ready.
    events: Option<Messages<AssetEvent<A>>>,
}

impl<A: Asset> NextAssetEvent<A> {
    /// Resumes in the first run of `phase` after an event, instead of the home phase.
    ///
    /// If `phase` is not the home phase, the script is polled in each of its runs.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.events = self.events.take().map(|events| events.in_phase(phase));
        self
    }
}

impl<A: Asset> Future for NextAssetEvent<A> {
    type Output = AssetEvent<A>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(events) = &mut this.events else {
            panic!("`next_asset_event` was polled after it had ended");
        };
        loop {
            match events.poll_next_unpin(cx) {
                Poll::Ready(Some(event)) if id_of(&event) == this.asset => {
                    this.events = None;
                    return Poll::Ready(event);
                }
                Poll::Ready(Some(_)) => {}
                // The stream ends only with the world.
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
    }
}

fn id_of<A: Asset>(event: &AssetEvent<A>) -> AssetId<A> {
    match event {
        AssetEvent::Added { id }
        | AssetEvent::Modified { id }
        | AssetEvent::Removed { id }
        | AssetEvent::Unused { id }
        | AssetEvent::LoadedWithDependencies { id } => *id,
    }
}

impl<A: Asset> FusedFuture for NextAssetEvent<A> {
    fn is_terminated(&self) -> bool {
        self.events.is_none()
    }
}

impl<A: Asset> fmt::Debug for NextAssetEvent<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextAssetEvent")
            .field("asset", &self.asset)
            .field("done", &self.events.is_none())
            .finish_non_exhaustive()
    }
}

type Failed = (UntypedAssetId, AssetPath<'static>);

/// How a wait for the asset ends, if it does. `failed` are the known failures.
fn state(
    server: &AssetServer,
    id: UntypedAssetId,
    failed: &[Failed],
) -> Option<Result<(), AssetFailed>> {
    let Some((own, _, all)) = server.get_load_states(id) else {
        return Some(Err(AssetFailed::NotLoading { id }));
    };
    let own_path = || server.get_path(id).map(AssetPath::into_owned);
    match (own, all) {
        (LoadState::Failed(error), _) => {
            let path = own_path();
            Some(Err(AssetFailed::Load { path, error }))
        }
        (_, RecursiveDependencyLoadState::Failed(error)) => {
            let path = path_of(server, &error, failed).or_else(own_path);
            Some(Err(AssetFailed::Load { path, error }))
        }
        (LoadState::Loaded, RecursiveDependencyLoadState::Loaded) => Some(Ok(())),
        (LoadState::NotLoaded, _) => Some(Err(AssetFailed::NotLoading { id })),
        _ => None,
    }
}

/// The path of the asset with this error.
fn path_of(
    server: &AssetServer,
    error: &Arc<AssetLoadError>,
    failed: &[Failed],
) -> Option<AssetPath<'static>> {
    let is_of = |id: UntypedAssetId| match server.load_state(id) {
        LoadState::Failed(of) => Arc::ptr_eq(&of, error),
        _ => false,
    };
    let known = failed.iter().find(|(id, _)| is_of(*id));
    known
        .map(|(_, path)| path.clone())
        .or_else(|| named_path(error))
}

/// The path that an error contains, if any.
fn named_path(error: &AssetLoadError) -> Option<AssetPath<'static>> {
    use bevy_asset::io::AssetReaderError;

    match error {
        AssetLoadError::EmptyPath(path)
        | AssetLoadError::UnapprovedPath(path)
        | AssetLoadError::DeserializeMeta { path, .. }
        | AssetLoadError::CannotLoadProcessedAsset { path }
        | AssetLoadError::CannotLoadIgnoredAsset { path }
        | AssetLoadError::AssetLoaderPanic { path, .. }
        | AssetLoadError::MissingLabel {
            base_path: path, ..
        } => Some(path.clone()),
        AssetLoadError::AssetLoaderError(error) => Some(error.path().clone()),
        AssetLoadError::MissingAssetLoader { asset_path, .. } => {
            Some(AssetPath::parse(asset_path).into_owned())
        }
        AssetLoadError::AssetReaderError(AssetReaderError::NotFound(path)) => {
            Some(AssetPath::from(path.clone()))
        }
        _ => None,
    }
}
