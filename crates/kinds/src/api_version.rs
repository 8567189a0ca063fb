//! The parts of an `apiVersion`.

/// Splits an `apiVersion` into group and version; the core group is empty.
///
/// ```
/// use pathline_kinds::split_api_version;
///
/// assert_eq!(split_api_version("apps/v1"), ("apps", "v1"));
/// assert_eq!(split_api_version("v1"), ("", "v1"));
/// ```
pub fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}
