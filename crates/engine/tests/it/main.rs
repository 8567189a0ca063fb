//! The engine and its workers on the embedded cluster, with real processes and real git.

mod election;
mod faults;
mod last_mile;
mod lineage;
mod owners;
mod workers_copies;
mod workers_daemons;
mod workers_fixture;
mod workers_git;
mod workers_ports;
mod workers_process;
mod workers_restart;
mod workers_retries;
mod workers_task;
mod world;
