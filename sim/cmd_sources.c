/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list sources: the bibliography as text, JSON or BibTeX. */
#include "models/crypto/cost.h"
#include "sim/cmd.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(table) ((int)(sizeof table / sizeof table[0]))

static const struct listing_column columns[] = {
    {"id", "id", true},
    {"kind", "kind", true},
    {"author", "author", true},
    {"title", "title", true},
    {"year", "year", true},
    {"where", "where", true},
    {"licence", "licence", true},
};

static void print_json(const struct cost_source *const *list, int count) {
  struct listing listing;
  listing_begin(&listing, columns, LENGTH(columns), true);
  for (int i = 0; i < count; i++) {
    const struct cost_source *s = list[i];
    const char *const cells[LENGTH(columns)] = {s->id, s->kind, s->author, s->title, s->year, s->where, s->licence};
    for (int c = 0; c < LENGTH(columns); c++) listing_text(&listing, cells[c]);
  }
  listing_end(&listing);
  putchar('\n');
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

/* Rows of shipped platforms, each counted for the platform that states it. A platform that does not load counts nothing. */
static int count_rows(const struct cost_source *const *list, int count, int *rows, struct err *e) {
  char **names = NULL;
  int platforms = 0, status = cost_list(&names, &platforms, e);
  for (int p = 0; p < platforms; p++) {
    struct cost_platform *platform = NULL;
    int failed = cost_load(names[p], NULL, &platform, e);
    status = status ? status : failed;
    for (int r = 0; !failed && r < cost_row_count(platform); r++) {
      struct cost_row_info info;
      cost_row_info(platform, r, &info);
      for (int i = 0; i < count && !strcmp(info.from_platform, names[p]); i++) rows[i] += !strcmp(list[i]->id, info.source);
    }
    cost_free(platform);
  }
  cost_list_free(names, platforms);
  return status;
}

/* Words in lines of at most WIDTH characters (UTF-8), indented. */
static void print_wrapped(const char *text) {
  enum { WIDTH = 100, INDENT = 4 };
  int column = 0;
  while (*text) {
    size_t length = strcspn(text, " ");
    int characters = 0;
    for (size_t i = 0; i < length; i++) characters += ((unsigned char)text[i] & 0xC0) != 0x80;
    bool fits = column && column + 1 + characters <= WIDTH;
    if (column && !fits) putchar('\n');
    printf("%*s%.*s", fits ? 1 : INDENT, "", (int)length, text);
    column = (fits ? column + 1 : INDENT) + characters;
    text += length;
    text += strspn(text, " ");
  }
  if (column) putchar('\n');
}

/* Who and what on the lines behind the first: "Author: Title", then where it is. */
static void print_text(const struct cost_source *s, int rows, bool notes) {
  printf("%s  %s", s->id, s->kind);
  if (*s->year) printf(", %s", s->year);
  if (*s->licence) printf(", %s", s->licence);
  if (rows) printf(", %d platform row%s", rows, rows == 1 ? "" : "s");
  putchar('\n');
  char *line;
  if (asprintf(&line, "%s%s%s", s->author, *s->author ? ": " : "", s->title) < 0) abort();
  print_wrapped(line);
  free(line);
  print_wrapped(s->where);
  if (notes) print_wrapped(s->note);
}

static int print_texts(const struct cost_source *const *list, int count, bool notes, struct err *e) {
  int *rows = calloc((size_t)count + 1, sizeof *rows);
  if (!rows) abort();
  int status = count_rows(list, count, rows, e);
  for (int i = 0; i < count; i++) print_text(list[i], rows[i], notes);
  if (!notes) printf("\n%d sources. list sources ID adds the conditions; --bibtex prints a bibliography.\n", count);
  free(rows);
  return status;
}

/* ---- BibTeX ------------------------------------------------------------------------------------------------------ */

static const struct {
  char character;
  const char *tex; /* with braces in pairs: BibTeX counts those behind a backslash too */
} escapes[] = {
    {'&', "\\&"},
    {'%', "\\%"},
    {'_', "\\_"},
    {'#', "\\#"},
    {'$', "\\$"},
    {'{', "{\\textbraceleft}"},
    {'}', "{\\textbraceright}"},
    {'\\', "{\\textbackslash}"},
    {'~', "{\\textasciitilde}"},
    {'^', "{\\textasciicircum}"},
    {'<', "{\\textless}"},
    {'>', "{\\textgreater}"},
};

static void print_tex(const char *text, size_t length) {
  bool quoted = false;
  for (size_t i = 0; i < length; i++) {
    const char *tex = NULL;
    for (int k = 0; k < LENGTH(escapes); k++)
      if (escapes[k].character == text[i]) tex = escapes[k].tex;
    if (text[i] == '"') {
      tex = quoted ? "''" : "``";
      quoted = !quoted;
    }
    if (tex)
      fputs(tex, stdout);
    else
      putchar(text[i]);
  }
}

/* Addresses and identifiers stand as they are; what would end the field early is written in hexadecimal. */
static void print_verbatim(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (strchr("{}\\\"", text[i]))
      printf("%%%02X", (unsigned)(unsigned char)text[i]);
    else
      putchar(text[i]);
}

static void print_field(const char *name, const char *text) {
  if (!*text) return;
  printf(",\n  %s = {", name);
  print_tex(text, strlen(text));
  putchar('}');
}

static void print_verbatim_field(const char *name, const char *prefix, const char *text, size_t length) {
  printf(",\n  %s = {%s", name, prefix);
  print_verbatim(text, length);
  putchar('}');
}

/* "A, B et al." becomes A and B and others. The names of a paper are people's; others may be of organisations, and braces keep
 * those from being taken apart. */
static void print_authors(const struct cost_source *s) {
  if (!*s->author) return;
  bool people = !strcmp(s->kind, "paper");
  fputs(",\n  author = {", stdout);
  size_t length = strlen(s->author);
  const char *others = strstr(s->author, " et al.");
  if (others) length = (size_t)(others - s->author);
  for (const char *name = s->author, *end = name + length; name < end;) {
    const char *comma = memchr(name, ',', (size_t)(end - name));
    size_t part = (size_t)((comma ? comma : end) - name);
    if (name > s->author) fputs(" and ", stdout);
    if (!people) putchar('{');
    print_tex(name, part);
    if (!people) putchar('}');
    name += part + 1;
    while (name < end && *name == ' ') name++;
  }
  fputs(others ? " and others}" : "}", stdout);
}

/* Length of the address that a part of `where` begins with: a name with a dot, then a path; 0 for words. */
static size_t address_length(const char *part, size_t length) {
  size_t word = 0, dot = 0, host = 0;
  if (length > 8 && !strncmp(part, "https://", 8)) return strcspn(part, " ,");
  while (word < length && part[word] != ' ') word++;
  while (host < word && part[host] != '/') {
    unsigned char c = (unsigned char)part[host];
    if (c == '.') dot = host;
    if (!(islower(c) || isdigit(c) || c == '.' || c == '-')) return 0;
    host++;
  }
  return dot > 0 && host - dot >= 3 ? word : 0;
}

struct locator {
  const char *doi, *arxiv, *address;
  size_t doi_length, arxiv_length, address_length;
  bool has_words; /* beside those */
};

/* `where` is a list of parts separated by ", ". */
static struct locator locator_of(const char *where) {
  struct locator at = {0};
  for (const char *part = where; *part;) {
    const char *comma = strstr(part, ", ");
    size_t length = comma ? (size_t)(comma - part) : strlen(part), address = address_length(part, length);
    if (!strncmp(part, "doi:", 4)) {
      at.doi = part + 4;
      at.doi_length = length - 4;
    } else if (!strncmp(part, "arXiv:", 6)) {
      at.arxiv = part + 6;
      at.arxiv_length = length - 6;
    } else {
      if (address && !at.address) {
        at.address = part;
        at.address_length = address;
      } else {
        address = 0; /* a second one is told in words */
      }
      at.has_words |= address < length;
    }
    part += length + (comma ? 2 : 0);
  }
  return at;
}

static void print_bibtex(const struct cost_source *s) {
  struct locator at = locator_of(s->where);
  bool manual = !strcmp(s->kind, "datasheet") || !strcmp(s->kind, "standard");
  bool article = !strcmp(s->kind, "paper") && at.has_words && !at.doi && !at.arxiv && !at.address;
  printf("@%s{%s", article ? "article" : manual ? "manual" : "misc", s->id);
  print_authors(s);
  fputs(",\n  title = {{", stdout); /* two braces: capitals stay */
  print_tex(s->title, strlen(s->title));
  fputs("}}", stdout);
  print_field("year", s->year);
  if (at.has_words) print_field(article ? "journal" : manual ? "note" : "howpublished", s->where);
  if (at.doi) print_verbatim_field("doi", "", at.doi, at.doi_length);
  if (at.arxiv) {
    print_verbatim_field("eprint", "", at.arxiv, at.arxiv_length);
    print_field("archiveprefix", "arXiv");
  }
  if (at.address) print_verbatim_field("url", strncmp(at.address, "https://", 8) ? "https://" : "", at.address, at.address_length);
  print_field("annote", s->note);
  fputs("\n}\n", stdout);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static int unknown(const struct cost_source *const *list, int count, const char *id, struct err *e) {
  const char **names = calloc((size_t)count + 1, sizeof *names);
  if (!names) abort();
  for (int i = 0; i < count; i++) names[i] = list[i]->id;
  int status = err_add(e, ERR_INPUT, "list sources: found '%s', which is the id of no source%s", id, cmd_suggestion(id, names, count));
  free(names);
  return status;
}

int sources_print(enum sources_form form, const char *id, struct err *e) {
  struct cost_sources *sources = NULL;
  int status = cost_sources_load(&sources, e);
  if (status) return status;
  int count = cost_sources_count(sources);
  const struct cost_source **list = calloc((size_t)count + 1, sizeof *list);
  if (!list) abort();
  for (int i = 0; i < count; i++) list[i] = cost_source_at(sources, i);
  if (id) {
    const struct cost_source *one = cost_source_find(sources, id);
    if (!one) {
      status = unknown(list, count, id, e);
      count = 0;
    } else {
      list[0] = one;
      count = 1;
    }
  }
  if (!status && form == SOURCES_TEXT) status = print_texts(list, count, id != NULL, e);
  if (!status && form == SOURCES_JSON) print_json(list, count);
  for (int i = 0; !status && form == SOURCES_BIBTEX && i < count; i++) print_bibtex(list[i]);
  free(list);
  cost_sources_free(sources);
  return status;
}
