/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/grid.h"
#include "output/json.h"
#include "sim/cmd.h"

void listing_begin(struct listing *listing, const struct listing_column *columns, int count, bool json) {
  *listing = (struct listing){.columns = columns, .count = count, .grid = json ? NULL : grid_new()};
  for (int i = 0; i < count && !json; i++) grid_column(listing->grid, columns[i].header, columns[i].is_text ? GRID_TEXT : GRID_NUMBER);
  if (json) fputc('[', stdout);
}

/* The JSON in front of a value. */
static void open_cell(struct listing *listing) {
  if (listing->at == 0)
    fputs(listing->rows++ ? ",\n {" : "\n {", stdout);
  else
    fputs(", ", stdout);
  json_string(stdout, listing->columns[listing->at].key);
  fputs(": ", stdout);
}

static void close_cell(struct listing *listing) {
  listing->at = (listing->at + 1) % listing->count;
  if (listing->at == 0 && !listing->grid) fputc('}', stdout);
}

void listing_text(struct listing *listing, const char *text) {
  if (listing->grid) {
    grid_text(listing->grid, text ? text : "");
  } else {
    open_cell(listing);
    if (text)
      json_string(stdout, text);
    else
      fputs("null", stdout);
  }
  close_cell(listing);
}

void listing_number(struct listing *listing, double value) {
  if (listing->grid) {
    grid_number(listing->grid, value);
  } else {
    open_cell(listing);
    json_number(stdout, value);
  }
  close_cell(listing);
}

void listing_end(struct listing *listing) {
  if (listing->grid) {
    grid_print(listing->grid, stdout);
    grid_free(listing->grid);
  } else {
    fputs("\n]", stdout);
  }
}
