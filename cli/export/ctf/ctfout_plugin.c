/* ctfout_plugin.c - the entry of babeltrace-plugin-backstitch.so, with which
 * babeltrace2 and all that uses its library read a database.
 *
 * This is the only file of the plugin that is not in the program too. */

#include "cli/export/ctf/ctfout_bt.h"
#include "schema/store.h"
#include "stitch/base/mem.h"

/* The plugin is linked to the library, unlike the program. */
#define BT_CALL_HERE(call) .call = bt_##call,
struct bt_calls bt = { BT_CALLS(BT_CALL_HERE) };
#undef BT_CALL_HERE

/* Returns the text of a parameter, borrowed; "" if there is none. */
static const char *ctfout_plugin_text(const bt_value *params, const char *key)
{
	const bt_value *v = bt_value_map_borrow_entry_value_const(params, key);

	return v && bt_value_is_string(v) ? bt_value_string_get(v) : "";
}

/* Stores how sure we are that a file is for us, 0 or 1: babeltrace2 asks every
 * source for each of its arguments. */
static bt_component_class_query_method_status
ctfout_plugin_query(bt_self_component_class_source *self UNUSED,
		    bt_private_query_executor *executor UNUSED,
		    const char *object, const bt_value *params,
		    void *data UNUSED, const bt_value **result)
{
	char head[STORE_HEAD];
	double weight = 0;

	if (strcmp(object, "babeltrace.support-info") != 0)
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_UNKNOWN_OBJECT;
	if (!strcmp(ctfout_plugin_text(params, "type"), "file")) {
		FILE *f = fopen(ctfout_plugin_text(params, "input"), "re");

		if (f) {
			size_t n = fread(head, 1, sizeof(head), f);

			weight = store_is_database(head, n) ? 1 : 0;
			fclose(f);
		}
	}
	*result = bt_value_real_create_init(weight);
	return *result ? BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK
		       : BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_MEMORY_ERROR;
}

/* What is declared here is visible; all else in the plugin is hidden. */
#pragma GCC visibility push(default)
BT_PLUGIN_MODULE();
BT_PLUGIN(backstitch);
BT_PLUGIN_DESCRIPTION("Reads databases of backstitch");
BT_PLUGIN_SOURCE_COMPONENT_CLASS(db, ctfout_source_next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION(
	db, "Events of perf, ftrace and LTTng on one timeline, with stacks");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(db, ctfout_source_start);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(db, ctfout_source_end);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_QUERY_METHOD(db, ctfout_plugin_query);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(
	db, ctfout_source_iterate);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(
	db, ctfout_source_stop);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(
	db, ctfout_source_rewind, NULL);
#pragma GCC visibility pop
