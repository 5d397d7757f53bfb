//! A sweep on Kubernetes.
//!
//! Plain `batch/v1` and `core/v1`: a ConfigMap with the sweep file, suspended Jobs for the stages, and a driver Job that starts each stage
//! when the one before it is done. Nothing here knows what a stage computes; it is known by its command line, its number of indexes and
//! what it asks of a node.

pub mod labels;
