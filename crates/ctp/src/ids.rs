//! Small typed numbers: each names one thing in a [`Ctp`](crate::Ctp) and nothing else.

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index into the table that it belongs to.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of the entry at `index`; tables are limited to `u32::MAX` entries.
            #[must_use]
            pub fn new(index: usize) -> Self {
                debug_assert!(u32::try_from(index).is_ok());
                Self(index as u32)
            }
        }
    };
}

id!(
    /// An expression, in [`Ctp::expressions`](crate::Ctp::expressions).
    ExprId
);
id!(
    /// A read of one location by one event, in [`Ctp::reads`](crate::Ctp::reads).
    ReadId
);
id!(
    /// A location, in [`Ctp::locations`](crate::Ctp::locations).
    LocationId
);
id!(
    /// An event, in [`Ctp::events`](crate::Ctp::events): its place in the recorded total order.
    EventIndex
);
id!(
    /// A thread, in [`Ctp::threads`](crate::Ctp::threads).
    ThreadIndex
);
