-- The same tables as in ../sqlite. Times are microseconds since 1970.

create table artifact (
    id         bigint generated always as identity primary key,
    digest     text collate "C" not null unique, -- the SHA-256 of the content, by which everyone else knows it
    kind       text collate "C" not null,
    name       text,
    shown      text not null,
    url        text,
    mutable    boolean not null,
    lookup     text collate "C" not null, -- what it is found by: the commit of a source, the digest of an image
    first_seen bigint not null
);
create index artifact_lookup on artifact (kind, lookup);

create table owner (
    id        bigint generated always as identity primary key,
    uid       text collate "C" not null unique,
    kind      text collate "C" not null,
    namespace text collate "C" not null,
    name      text collate "C" not null,
    track     text not null,
    known     bigint not null, -- the newest time that any derivation of it was recorded with
    changed   bigint not null, -- the sequence of its last change
    gone      bigint
);
create index owner_name on owner (kind, namespace, name);

create table derivation (
    id                  bigint generated always as identity primary key,
    owner               bigint not null references owner,
    resource            text collate "C" not null,
    template            text not null,
    template_generation bigint,
    object_uid          text not null,
    object_generation   bigint,
    output              bigint references artifact, -- none for a sink
    identity            bigint not null, -- a hash of all that makes it this derivation and no other
    since               bigint not null,
    known               bigint not null, -- when it was last judged
    until               bigint, -- since when the resource makes something else
    superseded          bigint -- since when its output is known to have been made in another way
);
create index derivation_current on derivation (owner) where until is null;
create index derivation_history on derivation (owner, since);
create index derivation_output on derivation (output, owner);

create table edge (
    derivation bigint not null references derivation,
    origin     text collate "C" not null,
    input      bigint not null references artifact,
    scope      bigint not null, -- 0 where the owner gave the input, else the owner whose resource made it
    evidence   text not null,
    offered    boolean not null, -- whether it may not have been read at all
    known      bigint not null, -- since when this is the evidence
    primary key (derivation, origin)
);
create index edge_input on edge (input, scope);

create table arrival (
    owner      bigint not null references owner,
    input      text collate "C" not null,
    artifact   bigint not null references artifact,
    live       boolean not null,
    generation bigint not null,
    time       bigint not null,
    primary key (owner, input, artifact, live, generation)
);

create table change (
    sequence bigint generated always as identity primary key,
    owner    bigint not null references owner,
    time     bigint not null,
    what     text not null
);

create table token (
    name      text collate "C" primary key,
    scope     text not null,
    hash      text collate "C" not null unique,
    created   bigint not null,
    expires   bigint,
    last_used bigint,
    revoked   bigint
);
