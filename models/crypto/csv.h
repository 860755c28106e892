/* SPDX-License-Identifier: GPL-2.0-or-later */
/* csv: tables people write by hand or in a spreadsheet.
 *
 * Purpose:   reads a CSV file into rows whose cells stand in the order the caller asked for.
 * Format:    RFC 4180: comma, quoted cells with doubled quotes (line breaks inside allowed), LF or CRLF; a UTF-8 byte
 *            order mark and empty lines are skipped. The first line that is no remark names the columns, in any order.
 *            Lines `# text` before it are remarks; after it a '#' begins an ordinary cell.
 * Ownership: csv_read/csv_free own every string.
 * Errors:    ERR_INPUT with file:line for each malformed row, unknown, doubled or missing column, file that cannot be
 *            read or is not UTF-8. All problems are listed; *out is still given when there is a table to go on with,
 *            so that the caller can list its own problems too, and NULL otherwise.
 */
#ifndef PQNETSIM_CSV_H
#define PQNETSIM_CSV_H

#include "sim/core/err.h"
#include <stdbool.h>

struct csv_column {
  const char *name;
  bool required; /* the file must have the column */
};

struct csv_remark {
  int line;
  const char *text; /* without '#' and the blanks around it */
};

struct csv_row {
  int line;           /* where the row begins */
  const char **cells; /* one per column asked for, "" where the file has no such column; blanks around an unquoted cell cut */
};

struct csv {
  char *path;
  int remark_count, row_count;
  struct csv_remark *remarks;
  struct csv_row *rows;
  char *text;         /* the file, cut into cells in place */
  const char **cells; /* what the rows point into */
};

int csv_read(const char *path, const struct csv_column *columns, int count, struct csv **out, struct err *e) MUST_CHECK;
void csv_free(struct csv *csv);

#endif
