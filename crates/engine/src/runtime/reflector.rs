//! One loop for all watches: it hands what a watch delivers to whoever keeps it.

use futures::{Stream, StreamExt};
use kube::api::DynamicObject;
use kube::runtime::watcher;

/// Keeps what a watch delivers.
pub(crate) trait Reflect {
    /// The objects of a listing that has not ended.
    type Listing;

    /// Returns a listing without objects.
    fn begin(&self) -> Self::Listing;

    /// Adds an object to a listing.
    fn list(&self, listing: &mut Self::Listing, object: DynamicObject);

    /// Puts a whole listing in the place of what is kept.
    fn listed(&self, listing: Self::Listing);

    /// Keeps an object as it is now.
    fn applied(&self, object: DynamicObject);

    /// Drops an object.
    fn deleted(&self, object: DynamicObject);

    /// Takes note that the watch failed; it is tried again.
    fn failed(&self, error: &watcher::Error);
}

/// Hands the events of a watch on until they end. Half a listing says nothing: what was kept before counts until
/// the listing is whole.
pub(crate) async fn reflect<R: Reflect>(
    events: impl Stream<Item = watcher::Result<watcher::Event<DynamicObject>>>,
    keeper: R,
) {
    let mut events = std::pin::pin!(events);
    let mut listing = keeper.begin();
    while let Some(event) = events.next().await {
        match event {
            Ok(watcher::Event::Init) => listing = keeper.begin(),
            Ok(watcher::Event::InitApply(object)) => keeper.list(&mut listing, object),
            Ok(watcher::Event::InitDone) => {
                keeper.listed(std::mem::replace(&mut listing, keeper.begin()));
            }
            Ok(watcher::Event::Apply(object)) => keeper.applied(object),
            Ok(watcher::Event::Delete(object)) => keeper.deleted(object),
            Err(error) => keeper.failed(&error),
        }
    }
}
