//! The type of labels before they became names.

/// The type that the labels had before their classes got names, such as the type of an array. Labels
/// of text files have none: their names are all that is known.
///
/// In JSON it is its name in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum LabelType {
    /// Text, such as "1".
    Text,
    /// True and false.
    Boolean,
    /// Whole numbers of 64 bits with a sign.
    Signed,
    /// Whole numbers of 64 bits without a sign.
    Unsigned,
    /// Floating-point numbers.
    Real,
}
