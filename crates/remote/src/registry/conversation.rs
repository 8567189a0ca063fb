//! One question to a registry, with as many requests as it takes to be let in.

use jiff::Timestamp;
use reqwest::{Method, StatusCode, Url};

use super::challenge::Challenge;
use super::error::refused;
use super::token::TokenService;
use super::tokens::{Pass, Slot};
use super::{ImageRepository, RegistryClient, RegistryError, RegistryErrorKind, RegistryLogin};
use crate::http::{Answer, Request, Signs};

/// A question, and who asks it.
pub(super) struct Conversation<'a> {
    client: &'a RegistryClient,
    image: &'a ImageRepository,
    login: Option<&'a RegistryLogin>,
    slot: Slot,
    base: Url,
    allow_http: bool,
    /// The signs of all answers so far.
    pub(super) signs: Signs,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(
        client: &'a RegistryClient,
        image: &'a ImageRepository,
        login: Option<&'a RegistryLogin>,
    ) -> Result<Self, RegistryError> {
        let host = image.host();
        let allow_http = client.insecure.contains(&image.registry);
        let scheme = if allow_http { "http" } else { "https" };
        let base = Url::parse(&format!("{scheme}://{host}/v2/{}/", image.name()));
        let base = base.ok().filter(|url| {
            let is_host = url.host_str().is_some() && !host.contains(['/', '@', '?', '#']);
            is_host && image.is_valid()
        });
        let told = || {
            let ImageRepository {
                registry,
                repository,
            } = image;
            RegistryError::new(format!("`{registry}/{repository}` is no repository"))
        };
        Ok(Self {
            client,
            image,
            login,
            slot: client.tokens.slot(image, login),
            base: base.ok_or_else(told)?,
            allow_http,
            signs: Signs::default(),
        })
    }

    /// Returns the URL of something of the repository.
    pub(super) fn url(&self, kind: &str, name: &str) -> Result<Url, RegistryError> {
        let mut url = self.base.clone();
        let told = || RegistryError::new(format!("`{name}` is no tag or digest"));
        if name.is_empty() || name.starts_with('.') {
            return Err(told());
        }
        url.path_segments_mut()
            .map_err(|()| told())?
            .pop_if_empty()
            .extend([kind, name]);
        Ok(url)
    }

    /// Sends a request, and once more if the registry wants to know who asks.
    ///
    /// The first time that takes three requests, with the one to the token service, and one while the token is valid. A
    /// token that was just given and is not accepted is not asked for again.
    pub(super) async fn send(
        &mut self,
        method: Method,
        url: &Url,
        prepare: impl Fn(Request) -> Request,
    ) -> Result<Answer, RegistryError> {
        let known = self.slot.lock().await.clone();
        let known = known.filter(|it| it.is_valid(self.now()));
        let request = |pass: Option<&Pass>| {
            let request = Request::new(method.clone(), url.clone()).allow_http(self.allow_http);
            prepare(self.authorize(request, pass))
        };
        let (first, again) = (request(known.as_ref()), &request);
        let answer = self.client.http.send(first).await?;
        if answer.status != StatusCode::UNAUTHORIZED {
            self.note(&answer);
            return Ok(answer);
        }
        let (pass, later) = self.pass(&answer, known.as_ref()).await?;
        let answer = self.client.http.send(again(Some(&pass))).await?;
        self.signs = std::mem::take(&mut self.signs).then(later);
        self.note(&answer);
        if answer.status == StatusCode::UNAUTHORIZED {
            self.forget(&pass).await;
            return Err(self.fail(answer));
        }
        Ok(answer)
    }

    /// Finds a way in that is not the one that was just refused.
    async fn pass(
        &self,
        answer: &Answer,
        refused: Option<&Pass>,
    ) -> Result<(Pass, Signs), RegistryError> {
        let denied = || {
            let mut error = super::error::refused(answer.clone());
            error.signs = Box::new(self.signs.clone().then(*error.signs));
            error
        };
        let challenge = Challenge::read(&answer.headers).ok_or_else(denied)?;
        let (realm, service, scope) = match challenge {
            Challenge::Bearer {
                realm,
                service,
                scope,
            } => (realm, service, scope),
            Challenge::Basic => {
                let is_tried = refused.is_some_and(|it| it.is_same(&Pass::Basic));
                let is_user = matches!(self.login, Some(RegistryLogin::Basic { .. }));
                if is_tried || !is_user {
                    return Err(denied());
                }
                *self.slot.lock().await = Some(Pass::Basic);
                return Ok((Pass::Basic, Signs::default()));
            }
        };
        let service = TokenService {
            realm,
            service,
            scope: scope
                .filter(|it| !it.is_empty())
                .unwrap_or_else(|| format!("repository:{}:pull", self.image.name())),
            http_hosts: self.client.insecure.clone(),
            registry: self.base.clone(),
        };
        // Held, so that others who ask the same wait for this token.
        let mut slot = self.slot.lock().await;
        if let Some(found) = slot.as_ref() {
            let is_new = refused.is_none_or(|it| !it.is_same(found));
            if is_new && found.is_valid(self.now()) {
                return Ok((found.clone(), Signs::default()));
            }
        }
        let asked = service.token(&self.client.http, self.login).await;
        let (token, signs) = asked.map_err(|mut error| {
            error.signs = Box::new(self.signs.clone().then(*error.signs));
            error
        })?;
        let pass = Pass::Bearer(token);
        *slot = Some(pass.clone());
        Ok((pass, signs))
    }

    /// Forgets a way in that does not work, unless somebody has found another one.
    async fn forget(&self, pass: &Pass) {
        let mut slot = self.slot.lock().await;
        if slot.as_ref().is_some_and(|it| it.is_same(pass)) {
            *slot = None;
        }
    }

    fn authorize(&self, request: Request, pass: Option<&Pass>) -> Request {
        match (pass, self.login) {
            (Some(Pass::Bearer(token)), _) => request.bearer(&token.secret),
            (Some(Pass::Basic), Some(RegistryLogin::Basic { username, password })) => {
                request.basic(username, password)
            }
            _ => request,
        }
    }

    fn now(&self) -> Timestamp {
        self.client.http.clock().now()
    }

    fn note(&mut self, answer: &Answer) {
        self.signs = std::mem::take(&mut self.signs).then(answer.signs.clone());
    }

    /// Makes an error of an answer, with all signs.
    pub(super) fn fail(&self, answer: Answer) -> RegistryError {
        RegistryError {
            signs: Box::new(self.signs.clone()),
            ..refused(answer)
        }
    }

    /// Makes an error of an answer that makes no sense.
    pub(super) fn nonsense(&self, answer: Answer, why: &str) -> RegistryError {
        let failure = answer.into_nonsense(why);
        RegistryError {
            signs: Box::new(self.signs.clone()),
            ..RegistryError::of(RegistryErrorKind::Failed, failure)
        }
    }
}
