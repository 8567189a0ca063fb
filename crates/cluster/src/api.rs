//! The API server: Kubernetes' REST protocol as a tower service.
//!
//! A request is read by `request`, `query` and `body`, meets its resource in `registry`, and is
//! answered by a verb: `read`, `watch`, `create`, `update` or `delete`. Verbs decide in `edit`,
//! which is pure, and repeat their decision until the store takes it.

mod accept;
mod body;
mod built_in;
mod call;
mod columns;
mod create;
mod definition;
mod delete;
mod discovery;
mod edit;
mod identity;
mod metadata;
mod openapi;
mod options;
mod pods;
mod query;
mod read;
mod registry;
mod request;
mod resource;
mod respond;
mod rules;
mod scale;
mod selectable;
mod token;
mod update;
mod view;
mod watch;

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::Body;
use pathline_clock::Clock;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::accept::Accept;
use self::body::Payload;
use self::call::{Call, Reply, Verb};
pub(crate) use self::definition::hold_for_cleanup;
use self::edit::Prepared;
pub(crate) use self::options::ListOptions;
use self::registry::{DEFINITIONS_GROUP, Registry};
pub(crate) use self::request::parse as parse_request;
use self::request::{ResourcePath, Target};
use self::resource::Resource;
pub use self::respond::ResponseBody;
use crate::admission::{Admission, Review, Verdict};
use crate::auth::Auth;
use crate::serve::Visitor;
use crate::status::Status;
use crate::store::Store;

/// The API as a service: give it a request with a bearer token, get an answer. Cheap to clone.
#[derive(Clone)]
pub struct ApiService {
    api: Arc<Api>,
}

/// The state that every request is answered from.
pub(crate) struct Api {
    store: Store,
    auth: Auth,
    registry: Registry,
    admission: Option<Arc<dyn Admission>>,
    clock: Clock,
    closing: CancellationToken,
}

impl ApiService {
    /// Makes the service of a store. Watches end when `closing` is cancelled.
    pub(crate) fn new(
        store: Store,
        auth: Auth,
        admission: Option<Arc<dyn Admission>>,
        clock: Clock,
        closing: CancellationToken,
    ) -> Self {
        let registry = Registry::load(&store);
        Self {
            api: Arc::new(Api {
                store,
                auth,
                registry,
                admission,
                clock,
                closing,
            }),
        }
    }

    /// Looks after CustomResourceDefinitions until `shutdown`.
    pub(crate) async fn run(self, shutdown: CancellationToken) {
        definition::lifecycle::run(self.api, shutdown).await;
    }
}

impl<B> tower::Service<Request<B>> for ApiService
where
    B: Body<Data = Bytes> + Send + 'static,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let api = Arc::clone(&self.api);
        Box::pin(async move { Ok(api.answer(request).await) })
    }
}

/// Finding out what is asked
impl Api {
    async fn answer<B>(&self, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body<Data = Bytes>,
    {
        let (head, body) = request.into_parts();
        let answer = match request::parse(&head.method, &head.uri) {
            Ok(parsed) => {
                let visitor = head.extensions.get::<Visitor>();
                self.dispatch(parsed, head.headers, visitor, body).await
            }
            Err(status) => Err(status),
        };
        answer.unwrap_or_else(|status| respond::failure(&status))
    }

    async fn dispatch<B>(
        &self,
        request: request::Request,
        headers: HeaderMap,
        visitor: Option<&Visitor>,
        body: B,
    ) -> Result<Response<ResponseBody>, Status>
    where
        B: Body<Data = Bytes>,
    {
        match request.target {
            Target::Health(check) => return Ok(health(check, *self.store.writable().borrow())),
            Target::Version => return Ok(respond::json(StatusCode::OK, &discovery::version())),
            _ => {}
        }
        let user = self.auth.authenticate(&headers, self.clock.now());
        user.map_err(|why| {
            tracing::debug!(%why, "refused a request");
            Status::unauthorized()
        })?;
        if let Some(visitor) = visitor {
            visitor.vouch();
        }
        let request::Request {
            method,
            target,
            query,
        } = request;
        let Target::Resource(path) = target else {
            return self.discover(&method, target, &headers);
        };
        let kinds = self.registry.kinds();
        let resource = kinds
            .find(&path.group, &path.version, &path.resource)
            .ok_or_else(Status::no_such_resource)?;
        let verb = call::verb(&method, &path, &resource)?;
        let accept = Accept::parse(&headers)?;
        let payload = read_payload(verb, &headers, body).await?;
        let ResourcePath {
            namespace,
            name,
            subresource,
            ..
        } = path;
        let call = Call {
            verb,
            resource,
            namespace: namespace.unwrap_or_default(),
            name: name.unwrap_or_default(),
            subresource,
            query,
            headers,
            accept,
            payload,
            now: self.clock.now(),
        };
        self.run_call(&call).await
    }

    fn discover(
        &self,
        method: &Method,
        target: Target,
        headers: &HeaderMap,
    ) -> Result<Response<ResponseBody>, Status> {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Err(Status::method_not_allowed());
        }
        let kinds = self.registry.kinds();
        let plain = |body: Value| respond::json(StatusCode::OK, &body);
        match target {
            Target::CoreVersions => Ok(discovery::core_versions(&kinds, headers)),
            Target::Groups => Ok(discovery::groups(&kinds, headers)),
            Target::Group(group) => discovery::group(&kinds, &group).map(plain),
            Target::GroupVersion { group, version } => {
                discovery::resources(&kinds, &group, &version).map(plain)
            }
            Target::OpenApiV2 => Ok(openapi::version_2(headers)),
            Target::OpenApi(None) => Ok(kinds.documents().index(headers)),
            Target::OpenApi(Some(path)) => kinds.documents().one(&path),
            Target::Health(_) | Target::Version | Target::Resource(_) => {
                Err(Status::no_such_resource())
            }
        }
    }
}

/// Verbs
impl Api {
    async fn run_call(&self, call: &Call) -> Result<Response<ResponseBody>, Status> {
        if call.verb == Verb::List {
            let options = ListOptions::parse(&call.query)?;
            if options.watch {
                return self.watch(call, &options);
            }
            return self.list(call, &options).map(|reply| encode(call, &reply));
        }
        let reply = match call.subresource.as_deref() {
            None => self.on_object(call).await?,
            Some(name) => self.on_subresource(call, name).await?,
        };
        Ok(encode(call, &reply))
    }

    async fn on_object(&self, call: &Call) -> Result<Reply, Status> {
        match call.verb {
            Verb::Get => self.get(call),
            Verb::Create => self.create(call).await,
            Verb::Update => self.update(call).await,
            Verb::Patch => self.patch(call).await,
            Verb::Delete => self.delete(call).await,
            Verb::DeleteCollection if call.resource.is_built_in("", "Namespace") => {
                Err(Status::method_not_allowed())
            }
            Verb::DeleteCollection => self.delete_collection(call).await,
            Verb::List => Err(Status::method_not_allowed()),
        }
    }

    async fn on_subresource(&self, call: &Call, name: &str) -> Result<Reply, Status> {
        let resource = &call.resource;
        match (name, call.verb) {
            ("status", verb) if resource.has_status => match verb {
                Verb::Get => self.get(call),
                Verb::Update => self.update(call).await,
                Verb::Patch => self.patch(call).await,
                _ => Err(Status::method_not_allowed()),
            },
            ("scale", _) => self.scale(call).await,
            ("token", Verb::Create) if resource.is_built_in("", "ServiceAccount") => {
                self.create_token(call)
            }
            ("binding", Verb::Create) if resource.is_built_in("", "Pod") => self.bind(call).await,
            ("finalize", Verb::Update) if resource.is_built_in("", "Namespace") => {
                self.update(call).await
            }
            _ => Err(Status::no_such_resource()),
        }
    }

    /// Asks whether a new state may be stored, and adds what there is to say about it.
    fn admit(
        &self,
        call: &Call,
        old: Option<&Value>,
        prepared: &mut Prepared,
    ) -> Result<(), Status> {
        let Some(admission) = &self.admission else {
            return Ok(());
        };
        if call.subresource.is_some() {
            return Ok(());
        }
        let verdict = admission.review(&Review {
            group: &call.resource.group,
            kind: &call.resource.kind,
            object: &prepared.object,
            old,
        });
        match verdict {
            Verdict::Allowed(warnings) => {
                prepared.warnings.extend(warnings);
                Ok(())
            }
            Verdict::Denied(message) => Err(Status::denied(admission.name(), &message)),
        }
    }

    /// Takes over a definition that was just written, so that its writer finds it in force.
    fn note_change(&self, resource: &Resource) {
        if resource.is_built_in(DEFINITIONS_GROUP, "CustomResourceDefinition") {
            self.registry.refresh(&self.store);
        }
    }

    /// Returns the resource of CustomResourceDefinitions.
    fn definition_resource(&self) -> Arc<Resource> {
        self.registry
            .kinds()
            .find(DEFINITIONS_GROUP, "v1", "customresourcedefinitions")
            .expect("definitions are built in")
    }
}

async fn read_payload<B>(verb: Verb, headers: &HeaderMap, body: B) -> Result<Payload, Status>
where
    B: Body<Data = Bytes>,
{
    match verb {
        Verb::Get | Verb::List => Ok(Payload::default()),
        Verb::Create | Verb::Update | Verb::Patch | Verb::Delete | Verb::DeleteCollection => {
            body::read(headers, body).await
        }
    }
}

fn encode(call: &Call, reply: &Reply) -> Response<ResponseBody> {
    let mut response = respond::value(reply.code, call.accept.encoding, &reply.body);
    respond::warn(&mut response, &reply.warnings);
    response
}

/// Answers a health check, in the words of a real server, whose etcd is our store.
fn health(check: &str, writable: bool) -> Response<ResponseBody> {
    let (code, text) = if writable {
        (StatusCode::OK, "ok".to_owned())
    } else {
        let text = format!("[+]ping ok\n[-]etcd failed: reason withheld\n{check} check failed\n");
        (StatusCode::INTERNAL_SERVER_ERROR, text)
    };
    respond::bytes(code, "text/plain; charset=utf-8", text.into())
}
