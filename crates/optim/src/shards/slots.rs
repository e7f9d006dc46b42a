//! The numbered vectors that shards keep, and how the driver refers to combinations of them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::problem::Products;
use crate::shards::{Definition, Kept, Merging, ProximalStep};

/// The products of samples in shards: a combination of slots. A slot is dropped by the shards after
/// the last combination with it has been dropped here.
#[derive(Debug, Clone)]
pub struct Handle(Rc<RefCell<Terms>>);

/// The factors with the slots that they multiply.
type Terms = Vec<(f64, Rc<Slot<Arc<Vec<f64>>>>)>;

/// The duals about which the loss is smoothed, which the shards keep, with the steps that lead to
/// them.
#[derive(Debug, Clone)]
pub(super) struct Centre(Rc<Slot<Vec<ProximalStep>>>);

/// The duals of a merged problem, which the shards keep for all samples.
#[derive(Debug, Clone)]
pub struct Spread(Rc<Slot<()>>);

/// Numbers that the shards keep, and what these follow from.
#[derive(Debug)]
struct Slot<T> {
    number: u64,
    source: T,
    slots: Slots,
}

/// The slots in use, with what each was computed from, so that a shard can be rebuilt.
#[derive(Debug, Clone, Default)]
pub(super) struct Slots(Rc<RefCell<Register>>);

#[derive(Debug, Default)]
struct Register {
    next: u64,
    live: BTreeMap<u64, Kept>,
    /// The slots that have not been sent to the shards.
    fresh: Vec<Definition>,
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
        let kept = Kept::Products(Arc::clone(&coef));
        let number = self.0.borrow_mut().keep(kept.clone(), kept);
        let slot = Slot { number, source: coef, slots: self.clone() };
        Handle(Rc::new(RefCell::new(vec![(1.0, Rc::new(slot))])))
    }

    /// Returns the duals to which a step leads from a centre, or from zeros; the next message defines
    /// them.
    pub(super) fn centre(&self, from: Option<&Centre>, step: ProximalStep) -> Centre {
        let before = from.map_or(&[][..], |Centre(slot)| &slot.source);
        let source = [before, std::slice::from_ref(&step)].concat();
        let whole = Kept::Duals { from: None, steps: source.clone() };
        let mut register = self.0.borrow_mut();
        // Shards that have not heard of the duals before get all steps.
        let known = from.map(|Centre(slot)| slot.number).filter(|&slot| !register.is_fresh(slot));
        let news = match known {
            None => whole.clone(),
            from => Kept::Duals { from, steps: vec![step] },
        };
        let number = register.keep(whole, news);
        Centre(Rc::new(Slot { number, source, slots: self.clone() }))
    }

    /// Returns duals of a merged problem, of every partition, for all samples; the next message defines
    /// them.
    pub(super) fn spread(&self, merging: Merging, duals: BTreeMap<usize, Vec<f64>>) -> Spread {
        let kept = Kept::Spread { merging, duals: Arc::new(duals) };
        let number = self.0.borrow_mut().keep(kept.clone(), kept);
        Spread(Rc::new(Slot { number, source: (), slots: self.clone() }))
    }

    /// Reduces a combination to at most `most` slots: if it has more, its products are recomputed as
    /// one.
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
        (std::mem::take(&mut register.fresh), std::mem::take(&mut register.freed))
    }

    pub(super) fn all(&self) -> Vec<Definition> {
        let define = |(&slot, kept): (&u64, &Kept)| Definition { slot, kept: kept.clone() };
        self.0.borrow().live.iter().map(define).collect()
    }
}

impl Register {
    /// Takes a new slot into use; `news` says what it holds to shards that have all others. Returns its
    /// number.
    fn keep(&mut self, kept: Kept, news: Kept) -> u64 {
        let slot = self.next;
        self.next += 1;
        self.live.insert(slot, kept);
        self.fresh.push(Definition { slot, kept: news });
        slot
    }

    /// Returns true if the shards have not heard of a slot.
    fn is_fresh(&self, slot: u64) -> bool {
        self.fresh.iter().any(|fresh| fresh.slot == slot)
    }

    fn free(&mut self, slot: u64) {
        self.live.remove(&slot);
        if self.is_fresh(slot) {
            self.fresh.retain(|fresh| fresh.slot != slot);
        } else {
            self.freed.push(slot);
        }
    }
}

impl<T> Drop for Slot<T> {
    fn drop(&mut self) {
        self.slots.0.borrow_mut().free(self.number);
    }
}

impl Spread {
    pub(super) fn number(&self) -> u64 {
        self.0.number
    }
}

impl Centre {
    pub(super) fn number(&self) -> u64 {
        self.0.number
    }
}

impl Handle {
    /// Returns these products as messages name them.
    pub(super) fn terms(&self) -> Vec<(f64, u64)> {
        self.0.borrow().iter().map(|(t, slot)| (*t, slot.number)).collect()
    }

    /// Returns true if the coefficients behind these products are zeros.
    pub(super) fn is_zero(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Returns the coefficients behind these products; none where all of them are 0.
    pub(super) fn coefficients(&self) -> Vec<f64> {
        let terms = self.0.borrow();
        let mut coef = vec![0.0; terms.first().map_or(0, |(_, slot)| slot.source.len())];
        for (t, slot) in terms.iter() {
            coef.iter_mut().zip(slot.source.iter()).for_each(|(w, x)| *w += t * x);
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
