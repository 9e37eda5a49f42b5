/* graph.c - one babeltrace graph per trace: source.ctf.fs, a muxer of its
 * streams, and a sink that receives the messages.
 *
 * The library's log is off; its errors are reported once, through *err. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/bt.h"
#include "stitch/base/err.h"

bool ctf_graph_newer(void)
{
	return bt_version_get_major() > 2 || bt_version_get_minor() >= 1;
}

static const bt_plugin *ctf_graph_find_plugin(const char *name)
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
	ctf->ctf_plugin = ctf_graph_find_plugin("ctf");
	ctf->utils_plugin = ctf_graph_find_plugin("utils");
	if (ctf->ctf_plugin && ctf->utils_plugin)
		return 0;
	return err_set(err, ERR_IO,
		       "libbabeltrace2 has no plugin '%s', which reading a CTF "
		       "trace needs; install the whole of libbabeltrace2, or "
		       "set BABELTRACE_PLUGIN_PATH",
		       ctf->ctf_plugin ? "utils" : "ctf");
}

void ctf_graph_stop(struct ctf *ctf)
{
	bt_plugin_put_ref(ctf->ctf_plugin);
	bt_plugin_put_ref(ctf->utils_plugin);
	ctf->ctf_plugin = ctf->utils_plugin = NULL;
}

/* Sets *err to the first cause of the library's error, one line. */
static int ctf_graph_take_error(const struct ctf_trace *tr, struct err *err)
{
	const bt_error *e = bt_current_thread_take_error();
	const char *why = "no reason was given";

	if (e && bt_error_get_cause_count(e))
		why = bt_error_cause_get_message(
			bt_error_borrow_cause_by_index(e, 0));
	err_set(err, ERR_FORMAT, "%s: libbabeltrace2 stops here: %s", tr->path,
		why);
	ctf_log_strip_addresses(err->msg);
	if (e)
		bt_error_release(e);
	return -1;
}

static bt_graph_simple_sink_component_consume_func_status
ctf_graph_consume(bt_message_iterator *it, void *data)
{
	struct ctf_trace *tr = data;
	bt_message_array_const list;
	uint64_t n = 0;

	switch (bt_message_iterator_next(it, &list, &n)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		break;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_MEMORY_ERROR;
	default:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
	}
	for (uint64_t i = 0; i < n; i++) {
		ctf_message_take(tr, list[i]);
		bt_message_put_ref(list[i]);
	}
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

static const bt_component_source *ctf_graph_add_source(struct ctf_trace *tr)
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

/* Connects source, muxer and sink. Returns -1 if the library has an error. */
static int ctf_graph_connect(struct ctf_trace *tr,
			     const bt_component_source *src)
{
	bt_graph *g = tr->graph->graph;
	const bt_component_class_filter *mux_class =
		bt_plugin_borrow_filter_component_class_by_name_const(
			tr->ctf->utils_plugin, "muxer");
	const bt_component_filter *mux;
	const bt_component_sink *sink;
	uint64_t n = bt_component_source_get_output_port_count(src);

	if (!mux_class ||
	    bt_graph_add_filter_component(g, mux_class, "mux", NULL,
					  BT_LOGGING_LEVEL_NONE, &mux) ||
	    bt_graph_add_simple_sink_component(
		    g, "out", NULL, ctf_graph_consume, NULL, tr, &sink))
		return -1;
	for (uint64_t i = 0; i < n; i++)
		/* the muxer adds a port when its last one is connected */
		if (bt_graph_connect_ports(
			    g,
			    bt_component_source_borrow_output_port_by_index_const(
				    src, i),
			    bt_component_filter_borrow_input_port_by_index_const(
				    mux, i),
			    NULL))
			return -1;
	return bt_graph_connect_ports(
		       g,
		       bt_component_filter_borrow_output_port_by_index_const(
			       mux, 0),
		       bt_component_sink_borrow_input_port_by_index_const(sink,
									  0),
		       NULL)
		       ? -1
		       : 0;
}

/* Returns 1, 0 if the trace has no streams, or -1 and *err. */
static int ctf_graph_open(struct ctf_trace *tr, struct err *err)
{
	tr->graph = mem_new(1, sizeof(*tr->graph));
	tr->opened = true;
	tr->graph->graph = bt_graph_create(tr->meta.version == 2);
	const bt_component_source *src =
		tr->graph->graph ? ctf_graph_add_source(tr) : NULL;

	if (!src)
		return ctf_graph_take_error(tr, err);
	if (!bt_component_source_get_output_port_count(src))
		return 0;
	return ctf_graph_connect(tr, src) ? ctf_graph_take_error(tr, err) : 1;
}

int ctf_graph_pull(struct ctf_trace *tr, struct err *err)
{
	if (!tr->opened) {
		int got = ctf_graph_open(tr, err);

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
		return ctf_graph_take_error(tr, err);
	}
}

void ctf_graph_close(struct ctf_trace *tr)
{
	struct ctf_graph *g = tr->graph;

	if (!g)
		return;
	bt_graph_put_ref(g->graph);
	for (size_t i = 0; i < g->n_class; i++)
		ctf_class_release(&g->classes[i]);
	free(g->classes);
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
