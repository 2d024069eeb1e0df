//! Which scripts are listed, and the warnings above them.

use std::rc::Rc;

use super::Panel;
use crate::model::filter::{Filter, Order};
use crate::model::tree::{self, Row};
use crate::model::warning::{Facts, Warning};

#[derive(Debug, PartialEq)]
pub(super) struct RowsKey {
    /// Of the frame, if the rows depend on nothing else in it.
    structure: u64,
    /// The look and the frame, if they do.
    look: Option<(u64, u64)>,
    filter: Filter,
    order: Order,
    folded: usize,
    entity: Option<Box<str>>,
}

impl Panel {
    /// Which scripts are listed.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Which scripts are listed, to change it.
    pub fn filter_mut(&mut self) -> &mut Filter {
        &mut self.filter
    }

    /// The order of the list.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Sets the order of the list.
    pub fn set_order(&mut self, order: Order) {
        self.order = order;
    }

    /// The game's selected entity, by the name of the owner of its scripts. In Bevy, that
    /// is `"NAME ENTITY"` or `"entity ENTITY"`. With
    /// [`only_entity`](Filter::only_entity), only its scripts are listed.
    pub fn select_entity(&mut self, owner: Option<&str>) {
        if self.entity.as_deref() != owner {
            self.entity = owner.map(Into::into);
        }
    }

    /// The owner of the game's selected entity.
    pub fn entity(&self) -> Option<&str> {
        self.entity.as_deref()
    }

    /// Folds or unfolds an owner of the list.
    pub fn fold(&mut self, owner: &str) {
        if !self.folded.remove(owner) {
            self.folded.insert(owner.into());
        }
        self.rows.0 = None;
    }

    /// Folds or unfolds all owners.
    pub fn fold_all(&mut self) {
        if self.folded.is_empty() {
            let owners: Vec<_> = (self.rows().iter())
                .filter_map(|row| match row {
                    Row::Owner { name, .. } => Some(Rc::clone(name)),
                    Row::Script { .. } => None,
                })
                .collect();
            self.folded.extend(owners);
        } else {
            self.folded.clear();
        }
        self.rows.0 = None;
    }

    /// The lines of the list.
    pub fn rows(&mut self) -> &[Row] {
        let Some(at) = self.shown_at() else {
            return &[];
        };
        let frame = &self.frames[at];
        let depends = !self.filter.is_empty() || self.order != Order::Tree;
        let key = RowsKey {
            structure: frame.structure,
            look: depends.then(|| (self.looks, frame.number())),
            filter: self.filter.clone(),
            order: self.order,
            folded: self.folded.len(),
            entity: self.entity.clone(),
        };
        if self.rows.0.as_ref() != Some(&key) {
            let entity = self.entity.as_deref();
            let heard = &self.listener.heard();
            let rows = tree::rows(frame, &self.filter, self.order, &self.folded, entity, heard);
            self.rows = (Some(key), rows);
        }
        &self.rows.1
    }

    /// What may be wrong in the frame that is shown, the worst first.
    pub fn warnings(&mut self) -> &[Warning] {
        let Some(at) = self.shown_at() else {
            return &[];
        };
        let key = (self.looks, self.shown);
        if self.warnings.0 != Some(key) {
            let facts = Facts {
                frame: &self.frames[at],
                heard: &self.listener.heard(),
                slow: &self.slow,
                difference: self.runs.difference.as_ref(),
                lengths: self.runs.lengths.as_ref(),
                patience: self.patience,
            };
            let warnings = facts.warnings();
            self.warnings = (Some(key), warnings);
        }
        &self.warnings.1
    }
}
