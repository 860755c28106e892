/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schema: the SQL of a study file, as text. output/SCHEMA.md describes the same to users.
 *
 * Invariants: table and column names are a contract; whoever changes one raises SCHEMA_VERSION and extends SCHEMA.md.
 * Ownership:  every function returns malloc'd text for the caller to free.
 * Sources:    views run, runItervar and scalar: column names of OMNeT++'s SQLite result files
 *             (omnetpp, src/common/sqliteresultfileschema.cc; runItervar as of OMNeT++ 5.6 and 6).
 */
#ifndef PQNETSIM_SCHEMA_H
#define PQNETSIM_SCHEMA_H

#include "output/store.h"

/* PRAGMA application_id: "PQNS" in ASCII. */
#define SCHEMA_APPLICATION_ID 0x50514E53
#define SCHEMA_VERSION 2

/* Everything but the point table and the views: these depend on the axes and are made anew when axes change. */
char *schema_create_fixed(void);
/* How many metric rows a point got. Came after the first version 1 files: a writer adds it to those, a reader does without. */
#define SCHEMA_STORED "CREATE TABLE IF NOT EXISTS stored(point INTEGER PRIMARY KEY, metric_rows INTEGER NOT NULL)"
char *schema_create_point(const struct store_study *study);
char *schema_create_views(const struct store_study *study);
char *schema_drop_point_and_views(void);

/* Parameters: 1 id, 2 run key, 3 replications, then one per axis. */
char *schema_insert_point(const struct store_study *study);
/* Columns: run key, then one per axis; parameter 1: id. */
char *schema_select_point(const struct store_study *study);

/* Parameters and columns in this order, for insert and select alike. */
enum schema_metric_column {
  METRIC_POINT,
  METRIC_NAME,
  METRIC_UNIT,
  METRIC_N,
  METRIC_FAILED,
  METRIC_REPLICATIONS,
  METRIC_MEAN,
  METRIC_SD,
  METRIC_CI95,
  METRIC_MIN,
  METRIC_P5,
  METRIC_P25,
  METRIC_P50,
  METRIC_P75,
  METRIC_P95,
  METRIC_P99,
  METRIC_MAX,
  METRIC_SUM,
  METRIC_SUM_SQUARES,
  METRIC_REP_SUM,
  METRIC_REP_SUM_SQUARES,
  METRIC_PART_SUMS,
  METRIC_CRYPTO,
  METRIC_FIRST_PART,
  METRIC_COLUMNS = METRIC_FIRST_PART + PART_COUNT
};
char *schema_insert_metric(void);
/* Parameters: 1 point, 2 name. */
char *schema_select_metric(void);

/* The column an axis may not be called, or NULL: names clash without regard to case. */
const char *schema_reserved(const char *axis_name);

/* Words for enum metric_unit in metric_def.kind; schema_kind_unit returns -1 for an unknown word. */
const char *schema_kind_name(enum metric_unit unit);
int schema_kind_unit(const char *kind);

#endif
