use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::problem::Products;
use crate::shards::{Definition, Spot};

/// The products of samples in shards: a combination of slots. A slot is dropped by the shards after
/// the last combination with it has been dropped here.
#[derive(Debug, Clone)]
pub struct Handle(Rc<RefCell<Terms>>);

/// The factors with the slots that they multiply.
type Terms = Vec<(f64, Rc<Slot>)>;

/// Products with coefficients, which the shards keep.
#[derive(Debug)]
struct Slot {
    number: u64,
    coef: Arc<Vec<f64>>,
    slots: Slots,
}

/// The slots in use. The coefficients of each are known here, so that a shard can be made anew.
#[derive(Debug, Clone, Default)]
pub(super) struct Slots(Rc<RefCell<Register>>);

#[derive(Debug, Default)]
struct Register {
    next: u64,
    live: BTreeMap<u64, Arc<Vec<f64>>>,
    /// The slots that the shards have not heard of.
    fresh: Vec<u64>,
    /// The slots that the shards may drop.
    freed: Vec<u64>,
}

impl Slots {
    /// Returns the products with coefficients, which the next message defines.
    pub(super) fn products(&self, coef: Vec<f64>) -> Handle {
        if coef.iter().all(|&w| w == 0.0) {
            return Handle(Rc::default());
        }
        let coef = Arc::new(coef);
        let mut register = self.0.borrow_mut();
        let number = register.next;
        register.next += 1;
        register.live.insert(number, Arc::clone(&coef));
        register.fresh.push(number);
        let slot = Slot { number, coef, slots: self.clone() };
        Handle(Rc::new(RefCell::new(vec![(1.0, Rc::new(slot))])))
    }

    /// Returns a combination in at most `most` slots: where it has more, its products are computed
    /// anew, into one.
    pub(super) fn compact(&self, handle: &Handle, most: usize) {
        if handle.0.borrow().len() > most {
            let coef = handle.coefficients();
            let terms = self.products(coef).0.take();
            handle.0.replace(terms);
        }
    }

    /// Returns what the next message defines and drops.
    pub(super) fn news(&self) -> (Vec<Definition>, Vec<u64>) {
        let mut register = self.0.borrow_mut();
        let fresh = std::mem::take(&mut register.fresh);
        let define = fresh.iter().filter_map(|slot| register.definition(*slot)).collect();
        (define, std::mem::take(&mut register.freed))
    }

    /// Returns the definitions of all slots in use.
    pub(super) fn all(&self) -> Vec<Definition> {
        let register = self.0.borrow();
        register.live.keys().filter_map(|slot| register.definition(*slot)).collect()
    }
}

impl Register {
    fn definition(&self, slot: u64) -> Option<Definition> {
        self.live.get(&slot).map(|coef| Definition { slot, coef: Arc::clone(coef) })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut register = self.slots.0.borrow_mut();
        register.live.remove(&self.number);
        match register.fresh.iter().position(|&fresh| fresh == self.number) {
            Some(k) => {
                register.fresh.remove(k);
            }
            None => register.freed.push(self.number),
        }
    }
}

impl Handle {
    /// Returns the scores of these products with an intercept, as messages name them.
    pub(super) fn spot(&self, intercept: f64, smoothing: f64) -> Spot {
        let terms = self.0.borrow().iter().map(|(t, slot)| (*t, slot.number)).collect();
        Spot { terms, intercept, smoothing }
    }

    /// Returns true if the coefficients behind these products are zeros.
    pub(super) fn is_zero(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Returns the coefficients behind these products; none where all of them are 0.
    pub(super) fn coefficients(&self) -> Vec<f64> {
        let terms = self.0.borrow();
        let mut coef = vec![0.0; terms.first().map_or(0, |(_, slot)| slot.coef.len())];
        for (t, slot) in terms.iter() {
            coef.iter_mut().zip(slot.coef.iter()).for_each(|(w, x)| *w += t * x);
        }
        coef
    }
}

impl Products for Handle {
    fn plus(&self, t: f64, other: &Self) -> Self {
        let mut terms = self.0.borrow().clone();
        for (factor, slot) in other.0.borrow().iter() {
            match terms.iter_mut().find(|(_, own)| own.number == slot.number) {
                Some((own, _)) => *own += t * factor,
                None => terms.push((t * factor, Rc::clone(slot))),
            }
        }
        terms.retain(|(factor, _)| *factor != 0.0);
        Handle(Rc::new(RefCell::new(terms)))
    }

    fn times(&self, factor: f64) -> Self {
        let terms = self.0.borrow();
        let terms = terms.iter().map(|(t, slot)| (factor * t, Rc::clone(slot))).collect();
        Handle(Rc::new(RefCell::new(terms)))
    }
}
