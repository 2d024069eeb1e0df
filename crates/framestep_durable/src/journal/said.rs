//! What calls are called in messages.

use crate::journal::{Kind, NamedWait, SiteId, Sites};

/// How it is said what a script does whose code has changed.
pub(crate) const COMES: &str = "comes to ";

/// Lists what a script waits for.
pub(crate) fn waits(waits: &[NamedWait], sites: &Sites) -> String {
    let said = waits
        .iter()
        .map(|wait| at(&awaited(wait.site, sites), wait.site, sites));
    let said: Vec<String> = said.collect();
    match said.len() {
        0 => "nothing".to_owned(),
        _ => said.join(" and "),
    }
}

/// Says which call a wait is.
pub(crate) fn awaited(site: SiteId, sites: &Sites) -> String {
    match sites.get(site) {
        Some(site) if site.name.is_empty() => format!("`{}`", site.call),
        Some(site) => format!("`{}` for `{}`", site.call, site.name),
        None => "?".to_owned(),
    }
}

/// Says which call an effect is.
pub(crate) fn done(site: SiteId, sites: &Sites) -> String {
    let Some(site) = sites.get(site) else {
        return "?".to_owned();
    };
    let article = if site.call.starts_with(['a', 'e', 'i', 'o']) {
        "an"
    } else {
        "a"
    };
    match &*site.name {
        "" => format!("{article} `{}`", site.call),
        name => format!("{article} `{}` of `{name}`", site.call),
    }
}

pub(crate) fn at(what: &str, site: SiteId, sites: &Sites) -> String {
    format!("{what} at {}", sites.place(site))
}

/// Says what an entry records, and where.
pub(crate) fn said_at(kind: Kind, site: SiteId, sites: &Sites) -> String {
    let what = match kind {
        Kind::Ended(_) => format!("the end of {}", awaited(site, sites)),
        Kind::Failed(_) => format!("a panic of {}", awaited(site, sites)),
        Kind::Effect => done(site, sites),
        Kind::Panicked => format!("a panic of {}", done(site, sites)),
    };
    at(&what, site, sites)
}
