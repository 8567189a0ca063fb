//! The fields of a protobuf message, as they stand on the wire.

/// The reason for which a body is no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    /// It does not start as Kubernetes' bodies do.
    #[error("provided data does not appear to be a protobuf message, expected prefix `k8s\\0`")]
    Magic,
    /// It ends in the middle of a field.
    #[error("unexpected end of protobuf data")]
    End,
    /// A number has more bytes than any number.
    #[error("protobuf integer is too long")]
    Varint,
    /// A field has a type that does not exist.
    #[error("illegal protobuf wire type {0}")]
    WireType(u64),
    /// A field cannot be what it should be.
    #[error("protobuf field `{0}` is malformed")]
    Field(&'static str),
    /// The object is compressed or the like.
    #[error("protobuf content encodings are not supported; send the object as it is")]
    Encoding,
    /// The object is of a kind that is only read from JSON and YAML.
    #[error("the kind `{0}` is not read from protobuf; send it as JSON")]
    Kind(String),
}

/// The content of one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire<'b> {
    /// A number.
    Varint(u64),
    /// A text, or a message.
    Bytes(&'b [u8]),
    /// A number of fixed size, which no known field has.
    Fixed,
}

/// Goes through the fields of a message; ends after the first error.
#[derive(Debug, Clone)]
pub(super) struct Fields<'b> {
    rest: &'b [u8],
}

impl<'b> Fields<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Returns the content of the last field with this number, which is the one that counts; a
    /// message that is not there is empty.
    pub(super) fn find_bytes(self, number: u64) -> Result<&'b [u8], Malformed> {
        let mut found: &[u8] = &[];
        for field in self {
            if let (of, Wire::Bytes(bytes)) = field?
                && of == number
            {
                found = bytes;
            }
        }
        Ok(found)
    }

    fn field(&mut self) -> Result<(u64, Wire<'b>), Malformed> {
        let tag = self.varint()?;
        let wire = match tag & 7 {
            0 => Wire::Varint(self.varint()?),
            1 => self.take(8).map(|_| Wire::Fixed)?,
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| Malformed::End)?;
                Wire::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Wire::Fixed)?,
            other => return Err(Malformed::WireType(other)),
        };
        Ok((tag >> 3, wire))
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for position in 0..10 {
            let (first, rest) = self.rest.split_first().ok_or(Malformed::End)?;
            self.rest = rest;
            value |= u64::from(first & 0x7f) << (7 * position);
            if first & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed::Varint)
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Malformed::End)?;
        self.rest = rest;
        Ok(taken)
    }
}

impl<'b> Iterator for Fields<'b> {
    type Item = Result<(u64, Wire<'b>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}
