//! Columns of numbers and text as a Parquet file. Alone in a crate, and behind a feature of the command, because
//! the Parquet library is the heaviest dependency of the house: nothing else waits for it to compile.
//!
//! Invariants: the bytes are a function of the arguments; every column may have empty cells; one row group, no
//! compression (a sweep has some thousand rows, and every reader can read it).
//!
//! Deliberately absent: reading, Arrow, codecs, and what the columns mean.

#![cfg(not(target_arch = "wasm32"))]

use std::fmt;
use std::sync::Arc;

use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

/// The cells of a column, from the first row on.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Whole numbers from 0.
    Whole(Vec<Option<u64>>),
    /// Numbers with a fraction.
    Real(Vec<Option<f64>>),
    /// Text.
    Text(Vec<Option<String>>),
}

/// A named column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its cells.
    pub cells: Cells,
}

/// Why there is no file.
#[derive(Debug)]
pub struct Error(ParquetError);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the columns make no Parquet file: {}", self.0)
    }
}

impl std::error::Error for Error {}

/// The bytes of a Parquet file of these columns, with pairs of a key and a value in its metadata.
///
/// # Errors
/// When columns differ in length, or there are none.
pub fn parquet(columns: &[Column], metadata: &[(&str, &str)]) -> Result<Vec<u8>, Error> {
    write(columns, metadata).map_err(Error)
}

fn write(columns: &[Column], metadata: &[(&str, &str)]) -> Result<Vec<u8>, ParquetError> {
    let fields = columns.iter().map(field).collect::<Result<Vec<TypePtr>, _>>()?;
    let schema = Type::group_type_builder("schema").with_fields(fields).build()?;
    let pairs = metadata.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), (*value).to_owned()));
    let properties = WriterProperties::builder().set_key_value_metadata(Some(pairs.collect())).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in columns {
        match &column.cells {
            // Parquet keeps unsigned numbers in the same 64 bits.
            Cells::Whole(cells) => put::<Int64Type, _>(&mut group, cells, |&number| number as i64)?,
            Cells::Real(cells) => put::<DoubleType, _>(&mut group, cells, |&number| number)?,
            Cells::Text(cells) => {
                put::<ByteArrayType, _>(&mut group, cells, |text| ByteArray::from(text.as_str()))?
            }
        }
    }
    group.close()?;
    writer.into_inner()
}

fn field(column: &Column) -> Result<TypePtr, ParquetError> {
    let (physical, converted) = match &column.cells {
        Cells::Whole(_) => (Physical::INT64, ConvertedType::UINT_64),
        Cells::Real(_) => (Physical::DOUBLE, ConvertedType::NONE),
        Cells::Text(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
    };
    let builder = Type::primitive_type_builder(&column.name, physical);
    Ok(Arc::new(builder.with_repetition(Repetition::OPTIONAL).with_converted_type(converted).build()?))
}

fn put<T: DataType, C>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    cells: &[Option<C>],
    value: impl Fn(&C) -> T::T,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("more columns than the schema has".to_owned()));
    };
    let values: Vec<T::T> = cells.iter().flatten().map(value).collect();
    let present: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    column.typed::<T>().write_batch(&values, Some(&present), None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;

    fn columns() -> Vec<Column> {
        let column = |name: &str, cells| Column { name: name.to_owned(), cells };
        vec![
            column("n", Cells::Whole(vec![Some(0), None, Some(u64::MAX)])),
            column("engine.x", Cells::Real(vec![Some(0.1), Some(-2.5), None])),
            column("text", Cells::Text(vec![None, Some("a, \"b\"".into()), Some("é".into())])),
        ]
    }

    #[test]
    fn what_is_written_can_be_read() {
        let bytes = parquet(&columns(), &[("plan", "abc")]).expect("a file");
        assert_eq!(
            bytes,
            parquet(&columns(), &[("plan", "abc")]).expect("a file"),
            "the same bytes every time"
        );
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("a Parquet file");
        let metadata = reader.metadata().file_metadata();
        let pairs = metadata.key_value_metadata().expect("metadata");
        assert!(pairs.contains(&KeyValue::new("plan".to_owned(), "abc".to_owned())), "{pairs:?}");
        let rows = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row").to_string());
        assert_eq!(
            rows.collect::<Vec<_>>(),
            [
                "{n: 0, engine.x: 0.1, text: null}",
                "{n: null, engine.x: -2.5E0, text: \"a, \"b\"\"}",
                "{n: 18446744073709551615, engine.x: null, text: \"é\"}"
            ]
        );
    }

    #[test]
    fn columns_of_different_lengths_are_refused() {
        let mut uneven = columns();
        uneven[0].cells = Cells::Whole(vec![Some(1)]);
        assert!(parquet(&uneven, &[]).is_err());
    }
}
