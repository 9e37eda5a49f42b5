/* ctfout_graph.c - connects our source with the library's sink.ctf.fs. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/args/status.h"
#include "cli/export/ctf/ctfout.h"
#include "cli/export/ctf/ctfout_bt.h"
#include "cli/output/folder.h"
#include "cli/process/signals.h"
#include "stitch/base/bytes.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/shared_library.h"
#include "stitch/base/table.h"
#include "stitch/files/write_all.h"

/* sink.ctf.fs writes a random uuid into the metadata and each packet. But the
 * same database must give the same bytes, and two traces must differ: readers
 * take those with the same uuid for parts of one. */

#define UUID 16
#define UUID_TEXT 36
/* The head of a packet: magic, uuid, two ids, then its size in bits. */
#define UUID_OFF 4
#define SIZE_OFF 36
#define HEAD 44

struct uuid {
	unsigned char bytes[UUID];
	char text[UUID_TEXT + 1];
};

/* Reads the metadata. Returns them with a final 0, for free(), or NULL. */
static char *ctfout_uuid_read(int fd, size_t *len)
{
	struct stat st;

	if (fstat(fd, &st) || st.st_size <= 0)
		return NULL;
	char *text = mem_new((size_t)st.st_size + 1, 1);
	*len = (size_t)st.st_size;
	if (pread(fd, text, *len, 0) == st.st_size)
		return text;
	free(text);
	return NULL;
}

/* Replaces the uuid of the metadata by a hash of the rest and of the events,
 * and stores it. Returns 0, or -1 if the file is not whole: the sink does not
 * report that it could not write the end. */
static int ctfout_uuid_metadata(int fd, uint64_t content, struct uuid *u)
{
	static const char key[] = "uuid = \"";
	size_t len = 0;
	char *text OWNED = ctfout_uuid_read(fd, &len);
	char *at = text ? strstr(text, key) : NULL;
	char *to = u->text;

	if (!at || len <= 4 || strcmp(text + len - 3, ";\n\n") != 0 ||
	    strlen(at += sizeof(key) - 1) <= UUID_TEXT)
		return -1;
	memset(at, '0', UUID_TEXT);
	/* Version 8 of RFC 9562: made in a way of our own. */
	content = hash_content(text, len, content);
	const uint64_t half[2] = { content,
				   hash_content(&content, 8, content) };

	memcpy(u->bytes, half, UUID);
	u->bytes[6] = (u->bytes[6] & 0x0f) | 0x80;
	u->bytes[8] = (u->bytes[8] & 0x3f) | 0x80;
	for (size_t i = 0; i < UUID; i++)
		to += snprintf(to, 4, "%s%02x",
			       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			       u->bytes[i]);
	return write_all_at(fd, u->text, UUID_TEXT, (uint64_t)(at - text));
}

/* Replaces the uuid in each packet of a stream. Returns -1 if one is cut. */
static int ctfout_uuid_stream(int fd, const struct uuid *u)
{
	unsigned char head[HEAD];
	uint64_t off = 0;
	uint64_t bits;
	ssize_t n;

	while ((n = pread(fd, head, HEAD, (off_t)off)) == HEAD) {
		struct bytes b;

		bytes_init(&b, head, HEAD, "packet", off, false);
		if (bytes_peek_u64(&b, SIZE_OFF, &bits) || bits / 8 < HEAD ||
		    write_all_at(fd, u->bytes, UUID, off + UUID_OFF))
			return -1;
		off += bits / 8;
	}
	return n ? -1 : 0;
}

/* Replaces the uuid in a file; content is 0 for a stream. Returns 0 or -1. */
static int ctfout_uuid_file(int dir, const char *name, uint64_t content,
			    struct uuid *u)
{
	int fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	int rc = -1;

	if (fd >= 0)
		rc = content ? ctfout_uuid_metadata(fd, content, u)
			     : ctfout_uuid_stream(fd, u);
	if (fd >= 0 && close(fd))
		rc = -1;
	return rc;
}

/* Replaces the random uuid of the trace in a folder. Returns 0, or -1 and *err
 * if the trace is not complete. */
static int ctfout_set_uuid(const char *folder, uint64_t content,
			   struct err *err)
{
	DIR *d = opendir(folder);
	const struct dirent *e;
	struct uuid u;
	int rc = -1;

	if (d)
		rc = ctfout_uuid_file(dirfd(d), "metadata", content, &u);
	while (!rc && (e = readdir(d)))
		if (*e->d_name != '.' && strcmp(e->d_name, "metadata") != 0)
			rc = ctfout_uuid_file(dirfd(d), e->d_name, 0, &u);
	if (d)
		closedir(d);
	return rc ? err_set(err, ERR_IO,
			    "%s: the trace is not complete; is the disk full?",
			    folder)
		  : 0;
}

#define METADATA_BYTES ((size_t)4 << 20)

struct bt_calls bt;

#define BT_CALL_NAME(call) "bt_" #call,
static const char *const bt_names[] = { BT_CALLS(BT_CALL_NAME) };

/* Returns the class of our source; NULL if there is no memory. */
static bt_component_class_source *ctfout_graph_class(void)
{
	bt_message_iterator_class *it =
		bt.message_iterator_class_create(ctfout_source_next);
	bt_component_class_source *c = NULL;

	if (it &&
	    !bt.message_iterator_class_set_initialize_method(
		    it, ctfout_source_iterate) &&
	    !bt.message_iterator_class_set_finalize_method(it,
							   ctfout_source_stop))
		c = bt.component_class_source_create("db", it);
	bt.message_iterator_class_put_ref(it);
	if (c &&
	    !bt.component_class_source_set_initialize_method(
		    c, ctfout_source_start) &&
	    !bt.component_class_source_set_finalize_method(c,
							   ctfout_source_end))
		return c;
	bt.component_class_source_put_ref(c);
	return NULL;
}

/* Adds the sink that writes the folder. Returns NULL if it cannot be made. */
static const bt_component_sink *
ctfout_graph_sink(bt_graph *g, const bt_plugin *ctf, const char *folder)
{
	const bt_component_class_sink *fs =
		bt.plugin_borrow_sink_component_class_by_name_const(ctf, "fs");
	bool newer = bt.version_get_major() > 2 || bt.version_get_minor() >= 1;
	bt_value *par = bt.value_map_create();
	const bt_component_sink *sink = NULL;

	/* sinks since 2.1 write CTF 2 by default, which not all readers know */
	if (!fs || !par ||
	    bt.value_map_insert_string_entry(par, "path", folder) ||
	    bt.value_map_insert_bool_entry(par, "assume-single-trace", true) ||
	    bt.value_map_insert_bool_entry(par, "quiet", true) ||
	    (newer &&
	     bt.value_map_insert_string_entry(par, "ctf-version", "1")) ||
	    bt.graph_add_sink_component(g, fs, "out", par,
					BT_LOGGING_LEVEL_NONE, &sink))
		sink = NULL;
	bt.value_put_ref(par);
	return sink;
}

/* Runs the graph. Returns 0 at its end, or -1; *err is set if stopped. */
static int ctfout_graph_run(bt_graph *g, struct err *err)
{
	while (!stop_requested())
		switch (bt.graph_run_once(g)) {
		case BT_GRAPH_RUN_ONCE_STATUS_OK:
		case BT_GRAPH_RUN_ONCE_STATUS_AGAIN:
			break;
		case BT_GRAPH_RUN_ONCE_STATUS_END:
			return 0;
		default:
			return -1;
		}
	return err_set(err, ERR_STOPPED, "stopped");
}

/* Returns false if the metadata may not fit on the disk. */
static bool ctfout_graph_has_room(const char *folder)
{
	struct statvfs fs;

	return statvfs(folder, &fs) ||
	       fs.f_bavail > METADATA_BYTES / fs.f_frsize;
}

/* Handles SIGTRAP and SIGABRT. Without memory glib ends the program by a
 * breakpoint; without memory or a file, libbabeltrace2 calls abort(). Both do
 * so in the thread that called them, and nothing can be returned from there:
 * what was written is removed here. */
static void ctfout_gave_up(int sig UNUSED)
{
	static const char text[] = "backstitch: libbabeltrace2 gave up: no "
				   "memory, or a file cannot be written\n";
	ssize_t n = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)n;
	folder_drop();
	_exit(STATUS_FAILED);
}

/* Writes the trace, with the library loaded. Returns 0, or -1 and *err. */
static int ctfout_write_all(const struct ctfout_input *in, const char *folder,
			    struct err *err)
{
	const bt_plugin *ctf = NULL;
	struct ctfout_input mine = *in;

	bt.logging_set_global_level(BT_LOGGING_LEVEL_NONE);
	if (bt.plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_FALSE,
			   &ctf) != BT_PLUGIN_FIND_STATUS_OK) {
		bt.current_thread_clear_error();
		return err_set(err, ERR_IO,
			       "libbabeltrace2 has no plugin 'ctf', which "
			       "writes CTF; install the whole of "
			       "libbabeltrace2, or set BABELTRACE_PLUGIN_PATH");
	}
	uint64_t content = 0;

	*err = (struct err){ 0 };
	mine.err = err;
	mine.content = &content;
	/* The sink writes the metadata when the graph is freed, and aborts if
	 * it cannot. A graph that did not run to its end cannot be freed: its
	 * sink (2.0.4) then uses the trace after the streams have freed it. */
	bt_component_class_source *c = ctfout_graph_class();
	bt_graph *g = bt.graph_create(0);
	const bt_component_source *src;
	const bt_component_sink *sink = NULL;
	int rc = -1;

	if (c && g)
		sink = ctfout_graph_sink(g, ctf, folder);
	if (sink &&
	    !bt.graph_add_source_component_with_initialize_method_data(
		    g, c, "in", NULL, (void *)&mine, BT_LOGGING_LEVEL_NONE,
		    &src) &&
	    !bt.graph_connect_ports(
		    g,
		    bt.component_source_borrow_output_port_by_index_const(src,
									  0),
		    bt.component_sink_borrow_input_port_by_index_const(sink, 0),
		    NULL))
		rc = ctfout_graph_run(g, err);
	if (rc) {
		bt.current_thread_clear_error();
		/* unless we have an error of our own: the library reports that
		 * the sink failed, but not why */
		if (err->code == ERR_NONE)
			err_set(err, ERR_IO,
				"%s: libbabeltrace2 could not write it; is the "
				"disk full?",
				folder);
	} else if (!ctfout_graph_has_room(folder)) {
		rc = err_set(err, ERR_IO, "%s: the disk is full", folder);
	}
	if (!rc)
		bt.graph_put_ref(g);
	bt.component_class_source_put_ref(c);
	if (!rc && !content)
		rc = err_set(err, ERR_USAGE,
			     "no event is selected, and babeltrace2 2.0 cannot "
			     "read a trace without one");
	if (!rc)
		rc = ctfout_set_uuid(folder, content, err);
	bt.plugin_put_ref(ctf);
	return rc;
}

int ctfout_write(const struct ctfout_input *in, const char *folder,
		 struct err *err)
{
	const struct sigaction mine = { .sa_handler = ctfout_gave_up };
	struct sigaction was_abort, was_trap;

	/* set before the library is loaded, because glib then starts */
	sigaction(SIGABRT, &mine, &was_abort);
	sigaction(SIGTRAP, &mine, &was_trap);
	/* loaded once, until the program ends; the name since version 2.0 */
	static const char *const files[] = { "libbabeltrace2.so.0", NULL };
	const struct shared_library l = {
		"CTF is written by",  files, "libbabeltrace2-0", bt_names,
		ARRAY_SIZE(bt_names), &bt,
	};

	int rc = shared_library_load(&l, err)
			 ? -1
			 : ctfout_write_all(in, folder, err);

	sigaction(SIGABRT, &was_abort, NULL);
	sigaction(SIGTRAP, &was_trap, NULL);
	return rc;
}
