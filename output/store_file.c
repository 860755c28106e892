/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/store_internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct store *store_new(const char *path, const char *file) {
  struct store *store = calloc(1, sizeof *store);
  assert(store);
  store->path = strdup(path);
  store->file = strdup(file);
  assert(store->path && store->file);
  store->lock_fd = -1;
  return store;
}

int store_wait_ms(void) {
  const char *text = getenv("PQNETSIM_STORE_WAIT_MS");
  int ms = 0;
  if (!text || !*text) return 30000;
  for (; *text >= '0' && *text <= '9' && ms < 100000000; text++) ms = ms * 10 + (*text - '0');
  return ms;
}

/* Bytes of the file and its journal: what the points so far took. */
static int64_t bytes_on_disk(const char *path) {
  int64_t total = 0;
  static const char *const suffixes[] = {"", "-wal"};
  for (int i = 0; i < 2; i++) {
    char name[4096];
    struct stat info;
    snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
    if (stat(name, &info) == 0) total += info.st_size;
  }
  return total;
}

static int fail_full(const struct store *store, const char *doing, struct err *e) {
  int64_t done = store->points_committed, open = store->point_count - done;
  int64_t needed = store_estimate_bytes(&store->study, open);
  /* what is there already is a better guide, once a good part of it is results */
  if (done > 0 && done >= store->point_count / 100) needed = bytes_on_disk(store->file) / done * open;
  if (needed < 65536) needed = 65536;
  if (store->lock_fd < 0 && strcmp(store->file, store->path) == 0)
    return err_add(e, ERR_SYSTEM,
        "%s: the disk is full: cannot %s. Reading takes a little room (32 kB or so) for FILE-shm beside the study. Free some and run this again, or copy the "
        "study, with its -wal file if there is one, to another disk; what is stored in it is safe.",
        store->path, doing);
  if (store->lock_fd < 0)
    return err_add(e, ERR_SYSTEM, "%s: the disk is full: cannot %s. The whole study needs roughly %lld kB; nothing was left behind.", store->path, doing,
        (long long)((needed + 999) / 1000));
  return err_add(e, ERR_SYSTEM,
      "%s: the disk is full: cannot %s. %lld of %lld points are finished and safe in the file; the rest needs roughly %lld kB more. "
      "Free that much and run the same command again: it goes on where this one stopped.",
      store->path, doing, (long long)done, (long long)store->point_count, (long long)((needed + 999) / 1000));
}

/* SQLite reports a full disk in several ways: the plain one, and I/O errors whose errno tells. */
static bool is_full(sqlite3 *db, int rc) {
  if ((rc & 0xff) == SQLITE_FULL) return true;
  if ((rc & 0xff) != SQLITE_IOERR && (rc & 0xff) != SQLITE_CANTOPEN) return false;
  int cause = db ? sqlite3_system_errno(db) : 0;
  if (cause == 0) cause = errno; /* a failed commit leaves it there alone */
  return cause == ENOSPC || cause == EDQUOT || cause == EFBIG;
}

int store_fail_gathering(const struct store *store, int rc, struct err *e) {
  const char *why = is_full(store->db, rc) ? "the disk is full" : sqlite3_errmsg(store->db);
  return err_add(e, ERR_SYSTEM,
      "%s: the study is finished and safe, but part of it is still in %s-wal beside it: %s. Keep the two files together, free roughly %lld kB and run the same "
      "command again: it moves everything into the study.",
      store->path, store->path, why, (long long)(bytes_on_disk(store->file) / 1000 + 1));
}

int store_fail(const struct store *store, int rc, const char *doing, struct err *e) {
  static const struct {
    int rc;
    enum err_code code;
    const char *why;
  } table[] = {
      {SQLITE_READONLY, ERR_SYSTEM, "the file or its folder is read-only"},
      {SQLITE_PERM, ERR_SYSTEM, "no permission"},
      {SQLITE_CANTOPEN, ERR_SYSTEM, "the file, or the -wal and -shm files beside it, cannot be opened; check the permissions of the file and its folder"},
      {SQLITE_CORRUPT, ERR_SYSTEM, "the file is damaged; `sqlite3 FILE .recover` may save its rows"},
      {SQLITE_NOTADB, ERR_SYSTEM, "the file is damaged or no SQLite database"},
      {SQLITE_IOERR, ERR_SYSTEM, "the disk reported an input/output error"},
  };
  if (is_full(store->db, rc)) return fail_full(store, doing, e);
  if ((rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED)
    return err_add(e, ERR_INPUT,
        "%s: locked by another program for %g s: cannot %s. Close the program that holds it (a database viewer with changes not yet written, say) and run this "
        "again.",
        store->path, store_wait_ms() / 1000.0, doing);
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if ((rc & 0xff) == table[i].rc) return err_add(e, table[i].code, "%s: cannot %s: %s", store->path, doing, table[i].why);
  return err_add(e, ERR_SYSTEM, "%s: cannot %s: %s", store->path, doing, store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(rc));
}

static int check_folder(const char *path, struct err *e) {
  char *copy = strdup(path);
  assert(copy);
  const char *folder = dirname(copy);
  int code = 0;
  struct stat info;
  if (stat(folder, &info) != 0)
    code = errno == ENOENT ? err_add(e, ERR_INPUT, "%s: the folder %s does not exist; create it first (mkdir -p '%s')", path, folder, folder)
                           : err_add(e, ERR_SYSTEM, "%s: the folder %s cannot be used: %s", path, folder, strerror(errno));
  else if (!S_ISDIR(info.st_mode))
    code = err_add(e, ERR_INPUT, "%s: %s is not a folder", path, folder);
  else if (access(folder, W_OK | X_OK) != 0)
    code = err_add(e, ERR_SYSTEM, "%s: the folder %s cannot be written to: %s", path, folder, errno == EACCES ? "no permission" : strerror(errno));
  free(copy);
  return code;
}

static uint32_t big_endian(const unsigned char *bytes) { return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3]; }

/* Source of the offsets: SQLite's "Database File Format", section 1.3: user version at 60, application id at 68. */
static int check_header(const char *path, int fd, struct err *e) {
  unsigned char header[100];
  ssize_t got = pread(fd, header, sizeof header, 0);
  if (got < 0) return err_add(e, ERR_SYSTEM, "%s: cannot be read: %s", path, strerror(errno));
  if (got == 0) return err_add(e, ERR_INPUT, "%s: is an empty file, not a study; remove it or name another file", path);
  if (got < 100 || memcmp(header, "SQLite format 3", 16) != 0)
    return err_add(e, ERR_INPUT, "%s: is not a study (not an SQLite file); it is left as it is, name another file", path);
  if (big_endian(header + 68) != SCHEMA_APPLICATION_ID)
    return err_add(e, ERR_INPUT, "%s: is an SQLite database of another program, not a study; it is left as it is, name another file", path);
  uint32_t version = big_endian(header + 60);
  if (version > SCHEMA_VERSION)
    return err_add(e, ERR_INPUT,
        "%s: was written by a newer version of this program (study format %u; this one knows %d); it is left as it is, use the newer program", path, version,
        SCHEMA_VERSION);
  if (version < 1) return err_add(e, ERR_SYSTEM, "%s: the file is damaged: its study format is %u", path, version);
  if (version < SCHEMA_VERSION)
    return err_add(e, ERR_INPUT,
        "%s: was written by an older version of this program (study format %u; this one knows %d); it is left as it is, sweep into another file", path, version,
        SCHEMA_VERSION);
  return 0;
}

int store_check_path(const char *path, bool writing, bool *exists, struct err *e) {
  struct stat info;
  *exists = false;
  if (!*path) return err_add(e, ERR_INPUT, "the name of the study file is empty");
  if (stat(path, &info) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) return err_add(e, ERR_SYSTEM, "%s: cannot be used: %s", path, strerror(errno));
    if (!writing) return err_add(e, ERR_INPUT, "%s: there is no such study file", path);
    return check_folder(path, e);
  }
  if (S_ISDIR(info.st_mode)) return err_add(e, ERR_INPUT, "%s: is a folder, not a study file", path);
  if (!S_ISREG(info.st_mode)) return err_add(e, ERR_INPUT, "%s: is not an ordinary file", path);
  int fd = open(path, (writing ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (fd < 0) {
    bool denied = errno == EACCES || errno == EPERM || errno == EROFS;
    return err_add(e, ERR_SYSTEM, "%s: cannot be %s: %s", path, writing ? "written to" : "read", denied && errno != EROFS ? "no permission" : strerror(errno));
  }
  int code = check_header(path, fd, e);
  close(fd);
  if (code) return code;
  *exists = true;
  return writing ? check_folder(path, e) : 0;
}

int store_lock(struct store *store, struct err *e) {
  /* SQLite locks 512 bytes from 2^30 on; this byte lies far beyond any file */
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)1 << 61, .l_len = 1};
  store->lock_fd = open(store->file, O_RDWR | O_CLOEXEC);
  if (store->lock_fd < 0) return err_add(e, ERR_SYSTEM, "%s: cannot be written to: %s", store->path, strerror(errno));
  for (int waited = 0;; waited += 50) {
    if (fcntl(store->lock_fd, F_SETLK, &lock) == 0) return 0;
    if (errno != EACCES && errno != EAGAIN) return 0; /* no record locks on this file system: SQLite's own must do */
    if (waited >= store_wait_ms()) break;
    usleep(50000);
  }
  struct flock holder = lock;
  if (fcntl(store->lock_fd, F_GETLK, &holder) == 0 && holder.l_type != F_UNLCK)
    return err_add(e, ERR_INPUT, "%s: locked: process %ld is writing results into it (waited %g s). Let it finish, or name another file.", store->path,
        (long)holder.l_pid, store_wait_ms() / 1000.0);
  return err_add(e, ERR_INPUT, "%s: locked by another writer (waited %g s)", store->path, store_wait_ms() / 1000.0);
}

/* "file:" URI for a file that cannot change: a finished study on a medium where SQLite can create nothing beside it. */
static char *immutable_uri(const char *path) {
  char *uri = malloc(3 * strlen(path) + 32);
  assert(uri);
  char *to = stpcpy(uri, "file:");
  for (; *path; path++) to += strchr("?#%", *path) ? sprintf(to, "%%%02X", (unsigned char)*path) : sprintf(to, "%c", *path);
  strcpy(to, "?immutable=1");
  return uri;
}

static int try_open(struct store *store, const char *name, int flags) {
  sqlite3_close(store->db);
  store->db = NULL;
  int rc = sqlite3_open_v2(name, &store->db, flags | SQLITE_OPEN_NOMUTEX, NULL); /* one thread */
  if (rc != SQLITE_OK) return rc;
  sqlite3_extended_result_codes(store->db, 1);
  sqlite3_busy_timeout(store->db, store_wait_ms());
  return sqlite3_exec(store->db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
}

int store_connect(struct store *store, bool create, struct err *e) {
  /* a bare name could be one of SQLite's own (":memory:") */
  char *name = NULL;
  int length = asprintf(&name, "%s%s", store->file[0] == '/' ? "" : "./", store->file);
  assert(length > 0);
  int rc = try_open(store, name, SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0));
  free(name);
  return rc == SQLITE_OK ? 0 : store_fail(store, rc, "open it", e);
}

/* A reader that may write leaves no -wal and -shm files behind, one that may not does: so that is the second choice; and the
 * third, for a finished study on a medium where nothing can be created beside it (or that is full), is to read it as a file that never changes. */
int store_connect_reader(struct store *store, struct err *e) {
  char *name = NULL, wal[4096];
  struct stat info;
  int length = asprintf(&name, "%s%s", store->file[0] == '/' ? "" : "./", store->file);
  assert(length > 0);
  int rc = SQLITE_CANTOPEN;
  if (access(store->file, W_OK) == 0) rc = try_open(store, name, SQLITE_OPEN_READWRITE);
  if (rc == SQLITE_OK) rc = sqlite3_exec(store->db, "PRAGMA query_only = ON", NULL, NULL, NULL);
  if ((rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY) rc = try_open(store, name, SQLITE_OPEN_READONLY);
  snprintf(wal, sizeof wal, "%s-wal", store->file);
  bool complete = stat(wal, &info) != 0 || info.st_size == 0; /* else rows would be missing */
  if (complete && ((rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY || is_full(store->db, rc))) {
    char *uri = immutable_uri(name);
    rc = try_open(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    free(uri);
  }
  free(name);
  return rc == SQLITE_OK ? 0 : store_fail(store, rc, "open it", e);
}

int store_exec(struct store *store, const char *sql, const char *doing, struct err *e) {
  int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
  return rc == SQLITE_OK ? 0 : store_fail(store, rc, doing, e);
}

int store_prepare(struct store *store, const char *sql, struct sqlite3_stmt **out, struct err *e) {
  int rc = sqlite3_prepare_v2(store->db, sql, -1, out, NULL);
  return rc == SQLITE_OK ? 0 : store_fail(store, rc, "use its tables", e);
}

int store_step(struct store *store, struct sqlite3_stmt *statement, const char *doing, struct err *e) {
  int rc = sqlite3_step(statement);
  if (rc == SQLITE_DONE) {
    sqlite3_reset(statement);
    return 0;
  }
  int code = store_fail(store, rc, doing, e);
  sqlite3_reset(statement);
  return code;
}

void store_bind_text(struct sqlite3_stmt *statement, int parameter, const char *text) {
  if (text)
    sqlite3_bind_text(statement, parameter, text, -1, SQLITE_STATIC);
  else
    sqlite3_bind_null(statement, parameter);
}

void store_bind_real(struct sqlite3_stmt *statement, int parameter, double value) {
  if (isnan(value))
    sqlite3_bind_null(statement, parameter);
  else
    sqlite3_bind_double(statement, parameter, value);
}
