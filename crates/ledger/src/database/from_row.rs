//! Reading rows of either database.

/// Defines a struct that is read from a row of either database, each field from the column of its
/// name. Fields behind `..` are such structs themselves, of columns of the same row.
//
// sqlx's derive would compile the drivers and SQLite a second time, for the compiler.
macro_rules! from_row {
    (
        $(#[$attribute:meta])*
        $visible:vis struct $row:ident {
            $($(#[$of_column:meta])* $column_visible:vis $column:ident: $type:ty,)+
            $(.. $($part:ident: $part_type:ty,)+)?
        }
    ) => {
        $(#[$attribute])*
        $visible struct $row {
            $($(#[$of_column])* $column_visible $column: $type,)+
            $($($part: $part_type,)+)?
        }

        $crate::database::from_row!(
            @impl sqlx::sqlite::SqliteRow, $row { $($column)+ } { $($($part)+)? }
        );
        $crate::database::from_row!(
            @impl sqlx::postgres::PgRow, $row { $($column)+ } { $($($part)+)? }
        );
    };
    (@impl $from:ty, $row:ident { $($column:ident)+ } { $($part:ident)* }) => {
        impl sqlx::FromRow<'_, $from> for $row {
            fn from_row(row: &$from) -> sqlx::Result<Self> {
                Ok(Self {
                    $($column: sqlx::Row::try_get(row, stringify!($column))?,)+
                    $($part: sqlx::FromRow::from_row(row)?,)*
                })
            }
        }
    };
}

pub(crate) use from_row;
