//! Lists that loops go over, and their changes.

use crate::{Block, Random, Statement, Writer};

/// A list: where it is, and what is in it.
#[derive(Clone)]
pub(crate) struct List {
    /// Which one it is.
    pub(crate) number: u32,
    pub(crate) form: Form,
    /// How often its name has changed.
    pub(crate) name: u32,
    /// Which items it had before a list of the body took its name.
    pub(crate) hides: Option<Vec<Item>>,
    pub(crate) items: Vec<Item>,
}

/// An item: its number, and its text.
pub(crate) type Item = (u32, u32);

/// Where a list is, and how a loop goes over it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A constant.
    Constant,
    /// A constant of structs.
    Structs,
    /// A constant of structs without `Debug`.
    Bare,
    /// The indices of a constant.
    Indices,
    /// The lines of a text.
    Lines,
    /// An array in the loop.
    Literal,
    /// A `let` of a `vec!`.
    Local,
    /// A constant whose items have labels.
    Labelled,
    /// A constant, with a `place` for each item.
    Placed,
    /// What a function returns.
    Returned,
    /// One of several lists in a constant.
    Table,
    /// An index that a `while` counts.
    Counted,
    /// A constant, by an iterator that a `while let` asks.
    Asked,
}

const FORMS: [Form; 13] = [
    Form::Constant,
    Form::Structs,
    Form::Bare,
    Form::Indices,
    Form::Lines,
    Form::Literal,
    Form::Local,
    Form::Labelled,
    Form::Placed,
    Form::Returned,
    Form::Table,
    Form::Counted,
    Form::Asked,
];

impl List {
    pub(crate) fn new(writer: &mut Writer) -> Self {
        let number = writer.number();
        let form = FORMS[writer.random.index(FORMS.len())];
        let count = 1 + writer.random.below(4);
        let mut items: Vec<Item> = (0..count).map(|_| (writer.number(), 0)).collect();
        if writer.random.below(6) == 0 {
            // Two that are equal.
            items.push(items[0]);
        }
        List {
            number,
            form,
            name: 0,
            hides: None,
            items,
        }
    }

    /// Another text for an item.
    pub(crate) fn reword(&mut self, random: &mut Random) {
        if !self.items.is_empty() {
            let at = random.index(self.items.len());
            self.items[at].1 += 1;
        }
    }

    fn change(&mut self, writer: &mut Writer) -> &'static str {
        let at = writer.random.index(self.items.len() + 1);
        let is_at_end = at == self.items.len();
        // Of those without `Debug` only the number is known: none is gone or has moved.
        let may_lose = !is_at_end && self.form != Form::Bare;
        match writer.random.below(10) {
            0..2 => {
                self.items.insert(at, (writer.number(), 0));
                "item inserted"
            }
            2 if !self.items.is_empty() => {
                let like = self.items[writer.random.index(self.items.len())];
                self.items.insert(at, like);
                "equal item inserted"
            }
            3 | 4 if may_lose => {
                self.items.remove(at);
                "item removed"
            }
            5 if may_lose => {
                let other = writer.random.index(self.items.len());
                let item = self.items.remove(at);
                self.items.insert(other, item);
                "item moved"
            }
            6 => {
                self.name += 1;
                "list renamed"
            }
            7 => {
                self.hides = Some(self.items.clone());
                self.items.insert(at, (writer.number(), 0));
                "list hidden"
            }
            8 => {
                self.form = FORMS[writer.random.index(FORMS.len())];
                "list in another form"
            }
            _ => {
                self.reword(&mut writer.random);
                "item reworded"
            }
        }
    }
}

/// How many lists there are in a block.
pub(crate) fn count(block: &Block) -> usize {
    let inner = |statement: &Statement| match statement {
        Statement::Each(_, block) => 1 + count(block),
        Statement::If(_, block) | Statement::Repeat(_, block) | Statement::Some(_, block) => {
            count(block)
        }
        Statement::Join([one, two]) | Statement::Select([(_, one), (_, two)]) => {
            count(one) + count(two)
        }
        _ => 0,
    };
    block.iter().map(inner).sum()
}

/// Changes the list of this number.
pub(crate) fn change(block: &mut Block, at: &mut usize, writer: &mut Writer) -> &'static str {
    for statement in block {
        let blocks = match statement {
            Statement::Each(list, _) if *at == 0 => {
                *at = usize::MAX;
                return list.change(writer);
            }
            Statement::Each(_, block) => {
                *at -= 1;
                vec![block]
            }
            Statement::If(_, block) | Statement::Repeat(_, block) | Statement::Some(_, block) => {
                vec![block]
            }
            Statement::Join([one, two]) | Statement::Select([(_, one), (_, two)]) => {
                vec![one, two]
            }
            _ => continue,
        };
        for block in blocks {
            let said = change(block, at, writer);
            if *at == usize::MAX {
                return said;
            }
        }
    }
    "nothing"
}
