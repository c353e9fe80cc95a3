//! Small typed numbers: each names one thing in a [`Program`](crate::Program) and nothing else.

use serde::{Deserialize, Serialize};

/// Makes a small typed number that names one entry of a table; `Serialize` and `Deserialize` of serde must be in scope.
#[macro_export]
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
    /// A function of the program.
    FunctionId
);
id!(
    /// A basic block of one function; block 0 is its entry.
    BlockId
);
id!(
    /// An SSA value of one function: a parameter or the result of an instruction.
    ValueId
);
id!(
    /// A global variable of the program.
    GlobalId
);
id!(
    /// A [`Shape`](crate::Shape) of the program.
    ShapeId
);
id!(
    /// A source file of the program.
    FileId
);
id!(
    /// A static instruction, numbered through the whole program: functions in order, their blocks in
    /// order, the instructions of each block in order, its terminator last.
    SiteId
);
