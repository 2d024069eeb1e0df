//! Names for people, in snapshots: of types without their paths, and of entities.

use std::any::type_name;
use std::fmt::{self, Write};

use bevy_ecs::entity::Entity;
use bevy_ecs::name::Name;
use bevy_ecs::world::World;
use framestep::lend::try_with_ref;

/// An entity as snapshots show it, with its [`Name`] if it has one: `Guard (12v3)`.
///
/// It is looked up when the text is written, in the world that is lent at that moment.
pub(crate) struct NameOf(pub(crate) Entity);

impl fmt::Display for NameOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entity = self.0;
        let known = try_with_ref(|world: &World| {
            let name = world.get::<Name>(entity);
            name.map(|name| format!("{name} ({entity})"))
        });
        match known {
            Ok(Some(name)) => f.write_str(&name),
            Ok(None) | Err(_) => write!(f, "entity {entity}"),
        }
    }
}

/// The name of a type without the paths: `Health`, `Option<Health>`.
pub(crate) fn short_name<T: ?Sized>() -> Short {
    Short(type_name::<T>())
}

pub(crate) struct Short(&'static str);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(end) = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
            let (path, after) = rest.split_at(end);
            f.write_str(last_segment(path))?;
            let mut others = after.chars();
            f.write_char(others.next().unwrap_or(' '))?;
            rest = others.as_str();
        }
        f.write_str(last_segment(rest))
    }
}

fn last_segment(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::{Short, short_name};

    #[test]
    fn types_are_named_without_their_paths() {
        assert_eq!(short_name::<Option<String>>().to_string(), "Option<String>");
        assert_eq!(short_name::<(u8, &[Short])>().to_string(), "(u8, &[Short])");
        assert_eq!(Short("a_b::C<d::E<{f::g}>>").to_string(), "C<E<{g}>>");
        assert_eq!(Short("").to_string(), "");
    }
}
