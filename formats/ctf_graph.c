/* ctf_graph.c - one babeltrace graph per trace: source.ctf.fs, and the sink
 * that takes the messages of its streams.
 *
 * The library's own log is off: what it has to say is taken from its errors,
 * once, in our words. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf_bt.h"
#include "stitch/err.h"

bool ctf_graph_newer(void)
{
	return bt_version_get_major() > 2 || bt_version_get_minor() >= 1;
}

static const bt_plugin *find_plugin(const char *name)
{
	const bt_plugin *p = NULL;

	if (bt_plugin_find(name, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_FALSE,
			   &p) != BT_PLUGIN_FIND_STATUS_OK)
		p = NULL;
	bt_current_thread_clear_error();
	return p;
}

int ctf_graph_start(struct ctf *ctf, struct err *err)
{
	bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
	ctf->ctf_plugin = find_plugin("ctf");
	if (ctf->ctf_plugin)
		return 0;
	return err_set(
		err, ERR_IO,
		"libbabeltrace2 has no plugin 'ctf', which reading a CTF "
		"trace needs; install the whole of libbabeltrace2, or "
		"set BABELTRACE_PLUGIN_PATH");
}

void ctf_graph_stop(struct ctf *ctf)
{
	bt_plugin_put_ref(ctf->ctf_plugin);
	ctf->ctf_plugin = NULL;
}

/* The first cause is where it began; it is the library's word, on one line. */
static int take_error(const struct ctf_trace *tr, struct err *err)
{
	const bt_error *e = bt_current_thread_take_error();
	const char *why = "no reason was given";

	if (e && bt_error_get_cause_count(e))
		why = bt_error_cause_get_message(
			bt_error_borrow_cause_by_index(e, 0));
	err_set(err, ERR_FORMAT, "%s: libbabeltrace2 stops here: %s", tr->path,
		why);
	ctf_tidy(err->msg);
	if (e)
		bt_error_release(e);
	return -1;
}

static const bt_component_source *add_source(struct ctf_trace *tr)
{
	const bt_component_class_source *fs =
		bt_plugin_borrow_source_component_class_by_name_const(
			tr->ctf->ctf_plugin, "fs");
	const bt_component_source *src = NULL;
	bt_value *par = bt_value_map_create();
	bt_value *inputs = NULL;

	if (!fs || !par ||
	    bt_value_map_insert_empty_array_entry(par, "inputs", &inputs) ||
	    bt_value_array_append_string_element(inputs, tr->shown) ||
	    bt_graph_add_source_component(tr->graph->graph, fs, "in", par,
					  tr->ctf->trying
						  ? BT_LOGGING_LEVEL_ERROR
						  : BT_LOGGING_LEVEL_NONE,
					  &src))
		src = NULL;
	bt_value_put_ref(par);
	return src;
}

/* 1, 0 it has no streams, -1 and *err. */
static int open_graph(struct ctf_trace *tr, struct err *err)
{
	tr->graph = mem_new(1, sizeof(*tr->graph));
	tr->opened = true;
	tr->graph->graph = bt_graph_create(tr->meta.version == 2);
	const bt_component_source *src =
		tr->graph->graph ? add_source(tr) : NULL;

	if (!src)
		return take_error(tr, err);
	if (!bt_component_source_get_output_port_count(src))
		return 0;
	return ctf_sink_connect(tr, src) ? take_error(tr, err) : 1;
}

int ctf_graph_pull(struct ctf_trace *tr, struct err *err)
{
	if (!tr->opened) {
		int got = open_graph(tr, err);

		if (got <= 0)
			return got;
	}
	switch (bt_graph_run_once(tr->graph->graph)) {
	case BT_GRAPH_RUN_ONCE_STATUS_OK:
	case BT_GRAPH_RUN_ONCE_STATUS_AGAIN:
		return 1;
	case BT_GRAPH_RUN_ONCE_STATUS_END:
		return 0;
	default:
		return take_error(tr, err);
	}
}

void ctf_graph_close(struct ctf_trace *tr)
{
	struct ctf_graph *g = tr->graph;

	if (!g)
		return;
	bt_graph_put_ref(g->graph);
	ctf_sink_free(g->sink);
	for (size_t i = 0; i < g->n_class; i++)
		ctf_class_release(&g->class[i]);
	free(g->class);
	free(g->stream);
	table_release(&g->by_class);
	table_release(&g->by_stream);
	free(g->raw);
	free(g->kern);
	free(g->user);
	free(g->names);
	free(g->text);
	free(g);
	tr->graph = NULL;
}
