//! Small typed numbers: each names one thing in a [`Ctp`](crate::Ctp) and nothing else.

use ir::id;
use serde::{Deserialize, Serialize};

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
