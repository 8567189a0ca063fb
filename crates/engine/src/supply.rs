//! Supply chains: owners and Runnables are reconciled into stamped objects.

pub(crate) mod blueprint_status;
pub(crate) mod catalogue;
pub(crate) mod owner;
pub(crate) mod runnable;
pub(crate) mod runs;
pub(crate) mod service_accounts;
pub(crate) mod stamping;
pub(crate) mod ytt;

use std::path::PathBuf;
use std::sync::Arc;

use pathline_blueprint::owner::OwnerKind;

use crate::observe::Observers;
use crate::runtime::clients::Clients;
use crate::runtime::env::Env;
use crate::runtime::kube_events::Recorder;
use crate::runtime::part::Part;
use crate::runtime::selections::Selections;
use crate::runtime::watches::{self, Watches};
use catalogue::Catalogue;
use ytt::Renderer;

/// Everything that reconcilers share.
pub(crate) struct Context {
    env: Env,
    clients: Clients,
    catalogue: Catalogue,
    watches: Watches,
    selections: Selections,
    recorder: Recorder,
    renderer: Renderer,
    observers: Observers,
}

/// Returns the loops that reconcile owners and Runnables, and those that they depend on.
pub(crate) fn parts(env: &Env, ytt: Option<PathBuf>, observers: &Observers) -> Vec<Part> {
    let (recorder, publisher) = Recorder::new();
    let context = Arc::new(Context {
        env: env.clone(),
        clients: Clients::new(env),
        catalogue: Catalogue::default(),
        watches: Watches::new(env),
        selections: Selections::new(env),
        recorder,
        renderer: Renderer::new(ytt),
        observers: observers.clone(),
    });
    vec![
        Part::new("events", publisher.run(env.clone())),
        Part::new("kinds", watches::watch_kinds(env.clone())),
        context.part("catalogue", |it| async move {
            it.catalogue.watch(&it.env).await;
        }),
        context.part("blueprint status", |it| async move {
            blueprint_status::report(&it.env, &it.catalogue).await;
        }),
        context.part("stamped kinds", |it| async move {
            watches::discover_stamped(&it.env, &it.watches).await;
        }),
        context.part("service accounts", |it| async move {
            service_accounts::watch(&it.env, &it.clients).await;
        }),
        context.part("workloads", |it| owner::run(it, OwnerKind::Workload)),
        context.part("deliverables", |it| owner::run(it, OwnerKind::Deliverable)),
        context.part("runnables", runnable::run),
        context.part("watches", |it| async move { it.watches.ended().await }),
        context.part(
            "selections",
            |it| async move { it.selections.ended().await },
        ),
    ]
}

impl Context {
    /// Makes a part that works with what reconcilers share.
    fn part<F>(self: &Arc<Self>, name: &'static str, run: impl FnOnce(Arc<Self>) -> F) -> Part
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Part::new(name, run(self.clone()))
    }
}
