//! The encoding of a table as bytes.

use super::bytes::{Bytes, put_list, put_text};
use crate::encode::{
    ColumnEncoding, EncodeOptions, Encoding, Kind, Missing, MissingWords, Unknown,
};

pub(super) fn put_encoding(out: &mut Vec<u8>, encoding: &Encoding) {
    let options = encoding.options();
    let text = |out: &mut Vec<u8>, text: &String| put_text(out, text);
    put_list(out, &options.categorical, text);
    put_list(out, &options.drop, text);
    out.push(match options.missing {
        Missing::Median => 0,
        Missing::Refuse => 1,
    });
    out.push(match options.unknown {
        Unknown::Refuse => 0,
        Unknown::None => 1,
    });
    put_list(out, options.missing_words.words(), text);
    put_list(out, encoding.columns(), |out, column| {
        put_text(out, column.name());
        out.push(u8::from(column.has_indicator()));
        match column.kind() {
            Kind::Number(median) => {
                out.push(0);
                out.extend(median.to_le_bytes());
            }
            Kind::Boolean(median) => {
                out.push(1);
                out.extend(median.to_le_bytes());
            }
            Kind::Categorical(levels) => {
                out.push(2);
                put_list(out, levels, text);
            }
            Kind::Codes(levels) => {
                out.push(3);
                put_list(out, levels, text);
            }
        }
    });
}

pub(super) fn take_encoding(rest: &mut Bytes<'_>) -> Result<Encoding, String> {
    let options = EncodeOptions {
        categorical: rest.list(Bytes::text)?,
        drop: rest.list(Bytes::text)?,
        missing: if rest.bool()? { Missing::Refuse } else { Missing::Median },
        unknown: if rest.bool()? { Unknown::None } else { Unknown::Refuse },
        missing_words: MissingWords::new(&rest.list(Bytes::text)?),
    };
    let columns = rest.list(|rest| {
        let (name, gaps) = (rest.text()?, rest.bool()?);
        let kind = match rest.u8()? {
            0 => Kind::Number(rest.f64()?),
            1 => Kind::Boolean(rest.f64()?),
            2 => Kind::Categorical(rest.list(Bytes::text)?),
            3 => Kind::Codes(rest.list(Bytes::text)?),
            other => return Err(format!("kind {other} of column '{name}' is unknown")),
        };
        ColumnEncoding::new(name, kind, gaps).map_err(|error| error.to_string())
    })?;
    Encoding::from_columns(options, columns).map_err(|error| error.to_string())
}
