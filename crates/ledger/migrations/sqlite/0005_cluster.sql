-- The cluster whose owners are in here: one row, written by the first Pathline that opens the ledger. Owners are
-- known by their names, which are unique in one cluster only.
create table cluster (
    uid      text primary key,
    name     text not null, -- what people know it by: a data directory, or the address of an API server
    since    bigint not null,
    revision bigint -- the newest resourceVersion of an owner that was seen, by which a cluster is found to be restored
);
