//! Types that no file can contain.

use syn::{
    AngleBracketedGenericArguments, Error, GenericArgument, Path, PathArguments, ReturnType, Type,
};

/// What a type is for.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    Parameter,
    Output,
}

/// Reports what cannot be saved in `ty`, at its place.
pub(crate) fn check(ty: &Type, used: Use, report: &mut impl FnMut(Error)) {
    match ty {
        Type::Reference(_) | Type::Ptr(_) => report(Error::new_spanned(ty, borrowed(used))),
        Type::ImplTrait(_) => report(Error::new_spanned(ty, unnamed(used))),
        Type::Array(array) => check(&array.elem, used, report),
        Type::Group(group) => check(&group.elem, used, report),
        Type::Paren(paren) => check(&paren.elem, used, report),
        Type::Slice(slice) => check(&slice.elem, used, report),
        Type::Tuple(tuple) => {
            for ty in &tuple.elems {
                check(ty, used, report);
            }
        }
        Type::Path(path) => {
            if let Some(of) = &path.qself {
                check(&of.ty, used, report);
            }
            check_path(&path.path, used, report);
        }
        _ => {}
    }
}

fn check_path(path: &Path, used: Use, report: &mut impl FnMut(Error)) {
    for segment in &path.segments {
        match &segment.arguments {
            PathArguments::None => {}
            PathArguments::AngleBracketed(arguments) => check_arguments(arguments, used, report),
            PathArguments::Parenthesized(arguments) => {
                for ty in &arguments.inputs {
                    check(ty, used, report);
                }
                if let ReturnType::Type(_, ty) = &arguments.output {
                    check(ty, used, report);
                }
            }
        }
    }
}

fn check_arguments(
    arguments: &AngleBracketedGenericArguments,
    used: Use,
    report: &mut impl FnMut(Error),
) {
    for argument in &arguments.args {
        match argument {
            GenericArgument::Type(ty) => check(ty, used, report),
            GenericArgument::Lifetime(lifetime) if lifetime.ident == "_" => {
                report(Error::new_spanned(lifetime, borrowed(used)));
            }
            _ => {}
        }
    }
}

fn borrowed(used: Use) -> &'static str {
    match used {
        Use::Parameter => {
            "a reference cannot be saved: take a number, a name or an owned value, and find what \
             it means in a `with`"
        }
        Use::Output => "a reference cannot be saved: return an owned value",
    }
}

fn unnamed(used: Use) -> &'static str {
    match used {
        Use::Parameter => {
            "`impl Trait` cannot be saved: a state has parameters of types with names"
        }
        Use::Output => "`impl Trait` cannot be saved: return a type with a name",
    }
}
