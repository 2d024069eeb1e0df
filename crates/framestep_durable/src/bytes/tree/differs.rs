//! What differs between two values of one type.

use crate::bytes::tree::Tree;

impl Tree {
    /// Where two values differ first, and how. `None` if they do not.
    pub(crate) fn difference(&self, other: &Tree) -> Option<String> {
        let mut path = Vec::new();
        let how = differs(self, other, &mut path)?;
        let path = path.concat();
        Some(match path.strip_prefix('.').unwrap_or(&path) {
            "" => format!("it {how}"),
            path => format!("`{path}` {how}"),
        })
    }
}

/// How they differ. `path` is what leads to the place.
fn differs(one: &Tree, other: &Tree, path: &mut Vec<String>) -> Option<String> {
    let mut below = |step: String, one: &Tree, other: &Tree| {
        path.push(step);
        let how = differs(one, other, path);
        if how.is_none() {
            path.pop();
        }
        how
    };
    match (one, other) {
        (Tree::Some(one), Tree::Some(other)) => differs(one, other, path),
        (Tree::Seq(some), Tree::Seq(others)) => {
            if let Some(how) = in_another_order(some.iter(), others.iter()) {
                return Some(how);
            }
            let mut items = some.iter().zip(others).enumerate();
            items.find_map(|(at, (one, other))| below(format!("[{at}]"), one, other))
        }
        (Tree::Map(some), Tree::Map(others)) => {
            let keys = |of: &'_ [(Tree, Tree)]| of.iter().map(|(key, _)| key.clone()).collect();
            let [mine, theirs]: [Vec<Tree>; 2] = [keys(some), keys(others)];
            if let Some(how) = in_another_order(mine.iter(), theirs.iter()) {
                return Some(how);
            }
            if mine != theirs {
                return Some("has other keys".to_owned());
            }
            let mut entries = some.iter().zip(others);
            entries.find_map(|((key, one), (_, other))| {
                let step = match key {
                    Tree::Text(name) => format!(".{name}"),
                    key => format!("[{key}]"),
                };
                below(step, one, other)
            })
        }
        // By bytes, so that a NaN is itself.
        _ if one.to_bytes() == other.to_bytes() => None,
        _ => Some(format!("was {one}, and is {other}")),
    }
}

/// How lists differ that are not the same items in the same order, except for changed items.
fn in_another_order<'a>(
    some: impl ExactSizeIterator<Item = &'a Tree>,
    others: impl ExactSizeIterator<Item = &'a Tree>,
) -> Option<String> {
    let (count, other_count) = (some.len(), others.len());
    if count != other_count {
        return Some(format!("had {count} items, and has {other_count}"));
    }
    let mut some: Vec<_> = some.map(Tree::to_bytes).collect();
    let mut others: Vec<_> = others.map(Tree::to_bytes).collect();
    if some == others {
        return None;
    }
    some.sort_unstable();
    others.sort_unstable();
    (some == others).then(|| "has its items in another order".to_owned())
}
