//! Names that are made from the user's.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::{Error, LitStr, Result};

use crate::arguments::Name;

/// The name of a variant: `power_up` becomes `PowerUp`.
pub(crate) fn camel_case(ident: &Ident) -> Result<Ident> {
    let name = ident.unraw().to_string();
    let mut camel = String::new();
    for word in name.split('_') {
        let mut letters = word.chars();
        camel.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        camel.push_str(letters.as_str());
    }
    if camel == "Self" || syn::parse_str::<Ident>(&camel).is_err() {
        return Err(Error::new(
            ident.span(),
            format!("no name for its variant can be made from `{name}`: choose another name"),
        ));
    }
    Ok(Ident::new(&camel, ident.span()))
}

/// The name in files, if none is given.
pub(crate) fn in_files(ident: &Ident) -> Name {
    Name::Text(LitStr::new(&ident.unraw().to_string(), ident.span()))
}

/// The name of the type of the state: the user's name belongs to the function that makes it. The compiler shows it in its
/// messages, and `framestep_durable` takes the first part off in its texts. No style of names has both kinds of letters.
pub(crate) fn state(ident: &Ident) -> Ident {
    Ident::new(&format!("State_of_{}", ident.unraw()), ident.span())
}

/// The same of the type of a module, in which a function may have the name of the module.
pub(crate) fn chapters(module: &Ident) -> Ident {
    Ident::new(&format!("Chapters_of_{}", module.unraw()), module.span())
}

/// The name of the function with the body, which the user does not see.
pub(crate) fn hidden(ident: &Ident) -> Ident {
    Ident::new(&format!("__durable_{}", ident.unraw()), ident.span())
}
