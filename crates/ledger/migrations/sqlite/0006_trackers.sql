-- The same tables as in ../postgres: trackers, the releases that they formed, and where these went. Times are
-- microseconds since 1970. Releases outlive their tracker, so the row of a deleted one stays, without its token.

create table tracker (
    uid           text primary key,
    name          text not null,
    name_key      text not null, -- the name as names are compared: without case
    source        text not null, -- which file it reads, as JSON
    token         text, -- sealed for this row and its token_version; none for a repository that is read anonymously
    token_version bigint not null,
    generation    bigint not null,
    version       bigint not null, -- how often an observation has changed the state
    state         text not null, -- as JSON
    known_source  text, -- what was read last, as JSON
    created       bigint not null,
    created_by    text not null,
    updated       bigint not null,
    updated_by    text not null,
    observed      bigint, -- when the state was changed by an observation
    deleted       bigint,
    deleted_by    text
);
-- Among the living, names are unique.
create unique index tracker_name on tracker (name_key) where deleted is null;
-- For all that ever had a name, and for pages.
create index tracker_names on tracker (name_key);
create index tracker_page on tracker (name) where deleted is null;

create table configuration (
    tracker_uid text not null references tracker (uid),
    config_hash text not null,
    document    text not null, -- as JSON, without secrets
    secrets     text, -- sealed for this row; none if there are none
    primary key (tracker_uid, config_hash)
);

create table release (
    sequence         integer primary key autoincrement, -- in the order in which they were formed, over all trackers
    id               text not null unique,
    tracker_uid      text not null references tracker (uid),
    number           bigint not null,
    config_hash      text not null,
    config_commit    text not null, -- the commit that the file was read from
    image_repository text not null,
    image_tag        text not null,
    image_digest     text not null,
    image_revision   text, -- the commit that the image says it was built from
    image_source     text, -- the repository that the image says it was built from
    cause            text not null,
    previous         bigint,
    time             bigint not null,
    body             text not null, -- all of it, as JSON
    unique (tracker_uid, number)
);
create index release_config_commit on release (config_commit);
create index release_image_revision on release (image_revision) where image_revision is not null;
create index release_tracker on release (tracker_uid, sequence);

create table entry (
    tracker_uid   text not null,
    number        bigint not null,
    environment   text not null,
    state         text not null,
    since         bigint not null,
    attempt       bigint not null,
    is_promoted   boolean not null,
    superseded_by bigint,
    message       text,
    primary key (tracker_uid, number, environment),
    foreign key (tracker_uid, number) references release (tracker_uid, number)
);
-- For what may still move, and for what is deployed.
create index entry_state on entry (tracker_uid, state, environment, number);

-- The key that secrets are sealed with, by its id; one row at most.
create table seal (
    only_one bigint primary key check (only_one = 1),
    key_id   text not null
);
