/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The `algorithms:` part: algorithms of the user's own, defined before anything is read that may name them. */
#include "sim/run/algorithms.h"
#include "models/crypto/alg_own.h"
#include "sim/run/names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  FIELD_BYTES_MAX = 65000, /* a payload of IKEv2 and a share of TLS have at most 65535 with their headers */
  BITS_MAX = 1024,
};

enum field { TYPE, TITLE, PUBLIC_KEY, CIPHERTEXT, SIGNATURE, SECRET_KEY, SHARED_SECRET, CATEGORY, CLASSICAL_BITS, QUANTUM_BITS, IKE_ID, TLS_ID, FIELDS };
enum type { TYPE_KEX, TYPE_KEM, TYPE_SIGNATURE, TYPES };
static const char *const type_names[] = {[TYPE_KEX] = "kex", [TYPE_KEM] = "kem", [TYPE_SIGNATURE] = "signature", [TYPES] = NULL};
static const enum alg_kind type_kinds[TYPES] = {[TYPE_KEX] = ALG_KEX, [TYPE_KEM] = ALG_KEM, [TYPE_SIGNATURE] = ALG_SIGNATURE};

static int check_title(const char *text, char *canonical, size_t size, struct err *e) {
  size_t length = strlen(text);
  if (!length || length > ALG_OWN_NAME_MAX || *text == ' ' || text[length - 1] == ' ')
    return err_add(e, ERR_INPUT, "found '%s', allowed 1 to %d characters without blanks around them", text, ALG_OWN_NAME_MAX);
  snprintf(canonical, size, "%s", text);
  return 0;
}

/* People write these in hexadecimal. */
static int check_tls_id(const char *text, char *canonical, size_t size, struct err *e) {
  char *end;
  bool hexadecimal = !strncmp(text, "0x", 2);
  const char *digits = hexadecimal ? text + 2 : text;
  long code = strtol(digits, &end, hexadecimal ? 16 : 10);
  if (!*digits || strchr("+- \t", *digits) || *end || code < 1 || code > 65535)
    return err_add(e, ERR_INPUT, "found '%s', allowed 0x0001 to 0xffff, or the same in decimal", text);
  snprintf(canonical, size, "0x%04lx", code);
  return 0;
}

static const struct param rows[FIELDS] = {
    [TYPE] = {.key = "type", .kind = PARAM_CHOICE, .choices = type_names, .absent = true},
    [TITLE] = {.key = "title", .kind = PARAM_NAME, .check = check_title, .absent = true},
    [PUBLIC_KEY] = {.key = "public_key", .kind = PARAM_SIZE, .min = 1, .max = FIELD_BYTES_MAX, .absent = true},
    [CIPHERTEXT] = {.key = "ciphertext", .kind = PARAM_SIZE, .min = 1, .max = FIELD_BYTES_MAX, .absent = true},
    [SIGNATURE] = {.key = "signature", .kind = PARAM_SIZE, .min = 1, .max = FIELD_BYTES_MAX, .absent = true},
    [SECRET_KEY] = {.key = "secret_key", .kind = PARAM_SIZE, .min = 1, .max = INT32_MAX, .absent = true},
    [SHARED_SECRET] = {.key = "shared_secret", .kind = PARAM_SIZE, .min = 1, .max = FIELD_BYTES_MAX, .absent = true},
    [CATEGORY] = {.key = "nist_category", .kind = PARAM_COUNT, .min = 0, .max = 5, .absent = true},
    [CLASSICAL_BITS] = {.key = "classical_bits", .kind = PARAM_COUNT, .min = 0, .max = BITS_MAX, .absent = true},
    [QUANTUM_BITS] = {.key = "quantum_bits", .kind = PARAM_COUNT, .min = 0, .max = BITS_MAX, .absent = true},
    [IKE_ID] = {.key = "ike_id", .kind = PARAM_COUNT, .min = 1, .max = 65535, .absent = true},
    [TLS_ID] = {.key = "tls_id", .kind = PARAM_NAME, .check = check_tls_id, .absent = true},
};

/* What a type must have, and what it has no use for. secret_key: for the reader's information, of any type. */
static const struct {
  unsigned needed, foreign;
} shapes[TYPES] = {
    [TYPE_KEX] = {1u << PUBLIC_KEY, 1u << CIPHERTEXT | 1u << SIGNATURE},
    [TYPE_KEM] = {1u << PUBLIC_KEY | 1u << CIPHERTEXT, 1u << SIGNATURE},
    [TYPE_SIGNATURE] = {1u << PUBLIC_KEY | 1u << SIGNATURE, 1u << CIPHERTEXT | 1u << SHARED_SECRET | 1u << IKE_ID},
};

/* One algorithm while it is read. */
struct own {
  const char *name;
  struct place at;
  bool shapeless;           /* no map: told already */
  const struct param *rows; /* with keys "algorithms.NAME.FIELD" */
  struct param_table table;
  const struct param_table *tables;
  struct config *config;
  struct {
    bool given;
    int set; /* of which text: 0 the file */
    struct place at;
  } fields[FIELDS];
};

struct reading {
  struct load *load;
  struct own *items;
  int count;
  int text; /* 0: the file; k: the k-th --set */
};

bool algorithms_is_key(const char *key) {
  size_t length = strlen(ALGORITHMS_KEY);
  return !strncmp(key, ALGORITHMS_KEY, length) && (!key[length] || key[length] == '.');
}

/* The algorithm of a name, added when it is new; NULL after a problem. */
static struct own *own_of(struct reading *r, const char *name, struct place at) {
  for (int i = 0; i < r->count; i++)
    if (!strcmp(r->items[i].name, name)) return &r->items[i];
  struct err e = {0};
  int code = alg_own_check_name(name, &e);
  if (!code && r->count == ALG_OWN_MAX) code = err_add(&e, ERR_INPUT, "found %s as one more than %d, the most there may be", name, ALG_OWN_MAX);
  if (code) problem_add(r->load->problems, at, ALGORITHMS_KEY, "%.*s", (int)strcspn(e.text, "\n"), e.text);
  err_free(&e);
  if (code) return NULL;
  struct own *own = &r->items[r->count++];
  struct param *named = arena_array(r->load->arena, FIELDS, sizeof *named);
  for (int f = 0; f < FIELDS; f++) {
    named[f] = rows[f];
    named[f].key = arena_format(r->load->arena, ALGORITHMS_KEY ".%s.%s", name, rows[f].key);
  }
  *own = (struct own){.name = name, .at = at, .rows = named, .table = {named, FIELDS}};
  own->tables = &own->table;
  own->config = config_new(&own->tables, 1);
  return own;
}

static void read_field(struct reading *r, struct own *own, const struct yaml_node *node, const char *name) {
  struct load *load = r->load;
  const char *names[FIELDS];
  int f = 0;
  for (int i = 0; i < FIELDS; i++) names[i] = rows[i].key;
  while (f < FIELDS && strcmp(names[f], name)) f++;
  const char *key = arena_format(load->arena, ALGORITHMS_KEY ".%s.%s", own->name, names_shown(load->arena, name));
  if (f == FIELDS) {
    const char *nearest = names_nearest(name, names, FIELDS);
    problem_add(load->problems, node->key_at, key, "unknown key; allowed %s%s%s%s", names_join(load->arena, names, FIELDS), nearest ? "; did you mean " : "",
        nearest ? nearest : "", nearest ? "?" : "");
    return;
  }
  if (own->fields[f].given && own->fields[f].set == r->text) {
    char where[128];
    problem_place(own->fields[f].at, where, sizeof where);
    problem_add(load->problems, node->key_at, key, "given twice, first at %s; remove one of them", where);
    return;
  }
  own->fields[f].given = true;
  own->fields[f].set = r->text;
  own->fields[f].at = node->at;
  const struct entry entry = {.key = own->rows[f].key, .row = &own->rows[f], .node = node, .at = node->key_at};
  value_set(load, own->config, &entry);
}

/* `mykem: {...}`, or `mykem.public_key: 1184B`. */
static void read_one(struct reading *r, const struct yaml_node *node, const char *path) {
  struct load *load = r->load;
  size_t length = strcspn(path, ".");
  struct own *own = own_of(r, arena_text(load->arena, path, length), node->key_at);
  if (!own) return;
  if (path[length]) {
    read_field(r, own, node, path + length + 1);
  } else if (node->shape != YAML_MAP || !node->count) {
    own->shapeless = true;
    problem_add(load->problems, node->at, arena_format(load->arena, ALGORITHMS_KEY ".%s", own->name),
        "found %s, allowed a map such as {type: kem, public_key: 1184B, ciphertext: 1088B}", node->shape == YAML_MAP ? "an empty map" : load_shown(load, node));
  } else {
    for (const struct yaml_node *child = node->child; child; child = child->next) read_field(r, own, child, child->key);
  }
}

static void read_map(struct reading *r, const struct yaml_node *map) {
  for (const struct yaml_node *child = map->child; child; child = child->next) {
    if (!algorithms_is_key(child->key)) continue;
    const char *path = child->key + strlen(ALGORITHMS_KEY);
    if (*path)
      read_one(r, child, path + 1);
    else if (child->shape != YAML_MAP || !child->count)
      problem_add(r->load->problems, child->at, ALGORITHMS_KEY, "found %s, allowed a map such as {mykem: {type: kem, public_key: 1184B, ciphertext: 1088B}}",
          child->shape == YAML_MAP ? "an empty map" : load_shown(r->load, child));
    else
      for (const struct yaml_node *one = child->child; one; one = one->next) read_one(r, one, one->key);
  }
}

/* ---- What was read as an algorithm ----------------------------------------------------------------------------- */

static int number(const struct own *own, enum field field, int otherwise) {
  const char *key = own->rows[field].key;
  return config_is_set(own->config, key) ? (int)config_number(own->config, key) : otherwise;
}

static bool shape_is_right(struct load *load, const struct own *own, enum type type) {
  bool well = true;
  const char *whole = arena_format(load->arena, ALGORITHMS_KEY ".%s", own->name);
  for (int f = 0; f < FIELDS; f++) {
    if ((shapes[type].needed >> f & 1) && !own->fields[f].given) {
      problem_add(load->problems, own->at, whole, "a %s needs %s", type_names[type], rows[f].key);
      well = false;
    }
    if ((shapes[type].foreign >> f & 1) && own->fields[f].given) {
      problem_add(load->problems, own->fields[f].at, own->rows[f].key, "a %s has none; remove it", type_names[type]);
      well = false;
    }
  }
  if (well && type == TYPE_SIGNATURE && number(own, PUBLIC_KEY, 0) + number(own, SIGNATURE, 0) > FIELD_BYTES_MAX - 1000) {
    problem_add(load->problems, own->at, whole, "public key and signature have %d bytes, allowed %d: a certificate with both must fit a payload of IKEv2",
        number(own, PUBLIC_KEY, 0) + number(own, SIGNATURE, 0), FIELD_BYTES_MAX - 1000);
    well = false;
  }
  return well;
}

/* Strength in bits, as alg.h says it for each category of NIST; 0: what is taken when nothing is stated. A key encapsulation or
 * signature of the user's own is taken for a post-quantum one of the lowest category, a key exchange for one of the
 * Diffie-Hellman kind, which Shor's algorithm breaks. */
static void strength_of(const struct own *own, enum type type, struct alg *alg) {
  static const struct { int classical, quantum; } categories[] = {{0, 0}, {128, 64}, {128, 85}, {192, 96}, {192, 128}, {256, 128}};
  alg->nist_category = number(own, CATEGORY, 0);
  bool unstated = alg->nist_category == 0;
  int category = unstated && type != TYPE_KEX ? 1 : alg->nist_category;
  alg->classical_bits = number(own, CLASSICAL_BITS, category ? categories[category].classical : 128);
  alg->quantum_bits = number(own, QUANTUM_BITS, categories[category].quantum);
}

/* One of the name and type, so that where a wrong definition is used there is no second problem. */
static void define_stand_in(const struct own *own, enum type type) {
  struct err ignored = {0};
  const struct alg alg = {.name = own->name, .title = own->name, .kind = type_kinds[type], .public_bytes = 1, .answer_bytes = 1, .ike_id = -1, .tls_id = -1};
  (void)!alg_define(&alg, &ignored);
  err_free(&ignored);
}

static bool define_typed(struct load *load, const struct own *own, enum type type) {
  if (!shape_is_right(load, own, type)) return false;
  struct alg alg = {.name = own->name, .title = own->name, .kind = type_kinds[type], .public_bytes = number(own, PUBLIC_KEY, 0)};
  if (config_is_set(own->config, own->rows[TITLE].key)) alg.title = config_text(own->config, own->rows[TITLE].key);
  alg.answer_bytes = type == TYPE_KEX ? alg.public_bytes : number(own, type == TYPE_KEM ? CIPHERTEXT : SIGNATURE, 0);
  alg.secret_bytes = type == TYPE_SIGNATURE ? number(own, SECRET_KEY, 0) : number(own, SHARED_SECRET, 32);
  alg.ike_id = number(own, IKE_ID, -1);
  alg.tls_id = config_is_set(own->config, own->rows[TLS_ID].key) ? (int)strtol(config_text(own->config, own->rows[TLS_ID].key), NULL, 16) : -1;
  strength_of(own, type, &alg);
  struct err e = {0};
  int code = alg_define(&alg, &e);
  if (code) problem_add(load->problems, own->at, arena_format(load->arena, ALGORITHMS_KEY ".%s", own->name), "%.*s", (int)strcspn(e.text, "\n"), e.text);
  err_free(&e);
  return !code;
}

static void define(struct load *load, const struct own *own) {
  if (!own->fields[TYPE].given && !own->shapeless)
    problem_add(load->problems, own->at, arena_format(load->arena, ALGORITHMS_KEY ".%s", own->name), "type is missing, allowed kex, kem, signature");
  if (!config_is_set(own->config, own->rows[TYPE].key)) return;
  enum type type = (enum type)number(own, TYPE, 0);
  if (!define_typed(load, own, type)) define_stand_in(own, type);
}

void algorithms_read(struct load *load, const struct yaml_node *const *maps, int count) {
  struct reading r = {.load = load, .items = arena_array(load->arena, ALG_OWN_MAX, sizeof *r.items)};
  alg_forget_own();
  for (r.text = 0; r.text < count; r.text++)
    if (maps[r.text]) read_map(&r, maps[r.text]);
  for (int i = 0; i < r.count; i++) {
    define(load, &r.items[i]);
    config_free(r.items[i].config);
  }
}

const char *algorithms_text(struct arena *arena, const struct alg *alg) {
  static const char *const answers[] = {[ALG_KEM] = "ciphertext", [ALG_SIGNATURE] = "signature"};
  const char *text = arena_format(arena, "{type: %s, title: %s, public_key: %dB", alg_kind_name(alg->kind), alg->title, alg->public_bytes);
  if (alg->kind != ALG_KEX) text = arena_format(arena, "%s, %s: %dB", text, answers[alg->kind], alg->answer_bytes);
  if (alg->kind != ALG_SIGNATURE) text = arena_format(arena, "%s, shared_secret: %dB", text, alg->secret_bytes);
  text = arena_format(arena, "%s, nist_category: %d, classical_bits: %d, quantum_bits: %d", text, alg->nist_category, alg->classical_bits, alg->quantum_bits);
  if (alg->ike_id >= 0) text = arena_format(arena, "%s, ike_id: %d", text, alg->ike_id);
  if (alg->tls_id >= 0) text = arena_format(arena, "%s, tls_id: 0x%04x", text, (unsigned)alg->tls_id);
  return arena_format(arena, "%s}", text);
}
