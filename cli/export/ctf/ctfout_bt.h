/* ctfout_bt.h - declarations shared by the files that call libbabeltrace2. */
#pragma once
#include <babeltrace2/babeltrace.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/export/ctf/ctfout.h"

struct events;
struct known_code;
struct payloads;

/* Larger numbers of CPUs, from a damaged database, count as not known. */
#define CTFOUT_CPUS 65536

/* libbabeltrace2 is loaded when a trace is written: linked, it and glib would
 * take a fifth of the time of a short command at each start of the program. */

/* The functions that are called, as C(NAME) for bt_NAME(). */
#define BT_CALLS(C)                                                            \
	C(clock_class_create)                                                  \
	C(clock_class_put_ref)                                                 \
	C(clock_class_set_frequency)                                           \
	C(clock_class_set_name)                                                \
	C(clock_class_set_offset)                                              \
	C(clock_class_set_origin_is_unix_epoch)                                \
	C(component_class_source_create)                                       \
	C(component_class_source_put_ref)                                      \
	C(component_class_source_set_finalize_method)                          \
	C(component_class_source_set_initialize_method)                        \
	C(component_sink_borrow_input_port_by_index_const)                     \
	C(component_source_borrow_output_port_by_index_const)                  \
	C(current_thread_clear_error)                                          \
	C(current_thread_error_append_cause_from_component)                    \
	C(current_thread_error_append_cause_from_message_iterator)             \
	C(event_borrow_common_context_field)                                   \
	C(event_borrow_payload_field)                                          \
	C(event_class_create)                                                  \
	C(event_class_put_ref)                                                 \
	C(event_class_set_name)                                                \
	C(event_class_set_payload_field_class)                                 \
	C(field_array_borrow_element_field_by_index)                           \
	C(field_array_dynamic_set_length)                                      \
	C(field_class_array_dynamic_create)                                    \
	C(field_class_enumeration_unsigned_add_mapping)                        \
	C(field_class_enumeration_unsigned_create)                             \
	C(field_class_get_type)                                                \
	C(field_class_integer_set_field_value_range)                           \
	C(field_class_integer_set_preferred_display_base)                      \
	C(field_class_integer_signed_create)                                   \
	C(field_class_integer_unsigned_create)                                 \
	C(field_class_put_ref)                                                 \
	C(field_class_string_create)                                           \
	C(field_class_structure_append_member)                                 \
	C(field_class_structure_borrow_member_by_index)                        \
	C(field_class_structure_borrow_member_by_index_const)                  \
	C(field_class_structure_create)                                        \
	C(field_class_structure_get_member_count)                              \
	C(field_class_structure_member_borrow_field_class)                     \
	C(field_class_structure_member_get_name)                               \
	C(field_integer_signed_set_value)                                      \
	C(field_integer_unsigned_set_value)                                    \
	C(field_string_set_value)                                              \
	C(field_structure_borrow_member_field_by_index)                        \
	C(graph_add_sink_component)                                            \
	C(graph_add_source_component_with_initialize_method_data)              \
	C(graph_connect_ports)                                                 \
	C(graph_create)                                                        \
	C(graph_put_ref)                                                       \
	C(graph_run_once)                                                      \
	C(integer_range_set_unsigned_add_range)                                \
	C(integer_range_set_unsigned_create)                                   \
	C(integer_range_set_unsigned_put_ref)                                  \
	C(logging_set_global_level)                                            \
	C(message_discarded_events_create)                                     \
	C(message_discarded_events_create_with_default_clock_snapshots)        \
	C(message_discarded_events_set_count)                                  \
	C(message_event_borrow_event)                                          \
	C(message_event_create_with_packet)                                    \
	C(message_event_create_with_packet_and_default_clock_snapshot)         \
	C(message_iterator_class_create)                                       \
	C(message_iterator_class_put_ref)                                      \
	C(message_iterator_class_set_finalize_method)                          \
	C(message_iterator_class_set_initialize_method)                        \
	C(message_packet_beginning_create)                                     \
	C(message_packet_beginning_create_with_default_clock_snapshot)         \
	C(message_packet_end_create)                                           \
	C(message_packet_end_create_with_default_clock_snapshot)               \
	C(message_put_ref)                                                     \
	C(message_stream_beginning_create)                                     \
	C(message_stream_end_create)                                           \
	C(packet_borrow_context_field)                                         \
	C(packet_create)                                                       \
	C(packet_put_ref)                                                      \
	C(plugin_borrow_sink_component_class_by_name_const)                    \
	C(plugin_find)                                                         \
	C(plugin_put_ref)                                                      \
	C(self_component_get_data)                                             \
	C(self_component_set_data)                                             \
	C(self_component_source_add_output_port)                               \
	C(self_message_iterator_borrow_component)                              \
	C(self_message_iterator_configuration_set_can_seek_forward)            \
	C(self_message_iterator_get_data)                                      \
	C(self_message_iterator_set_data)                                      \
	C(stream_class_create)                                                 \
	C(stream_class_put_ref)                                                \
	C(stream_class_set_assigns_automatic_stream_id)                        \
	C(stream_class_set_default_clock_class)                                \
	C(stream_class_set_event_common_context_field_class)                   \
	C(stream_class_set_packet_context_field_class)                         \
	C(stream_class_set_supports_discarded_events)                          \
	C(stream_class_set_supports_packets)                                   \
	C(stream_create_with_id)                                               \
	C(stream_put_ref)                                                      \
	C(stream_set_name)                                                     \
	C(trace_class_create)                                                  \
	C(trace_class_put_ref)                                                 \
	C(trace_create)                                                        \
	C(trace_put_ref)                                                       \
	C(trace_set_environment_entry_string)                                  \
	C(value_array_borrow_element_by_index_const)                           \
	C(value_array_get_length)                                              \
	C(value_get_type)                                                      \
	C(value_map_borrow_entry_value_const)                                  \
	C(value_map_create)                                                    \
	C(value_map_insert_bool_entry)                                         \
	C(value_map_insert_string_entry)                                       \
	C(value_put_ref)                                                       \
	C(value_string_get)                                                    \
	C(version_get_major)                                                   \
	C(version_get_minor)

#define BT_CALL_MEMBER(name) __typeof__(bt_##name) *name;
struct bt_calls {
	BT_CALLS(BT_CALL_MEMBER)
};
#undef BT_CALL_MEMBER

/* Set by ctfout_graph.c; in the plugin that babeltrace2 loads, initialised. */
extern struct bt_calls bt;

/* An event type and its event class. */
struct ctfout_type {
	bt_event_class *ec; /* NULL: no event of the type came yet */
	struct ctfout_member *member;
	size_t n;
};

struct ctfout_class {
	struct store *db;
	bt_self_component *self;
	const struct events *events;
	struct known_code *code;
	struct payloads *payloads;
	bt_trace_class *tc;
	bt_clock_class *clock; /* NULL: nothing in the database has a time */
	bt_stream_class *sc;
	bt_trace *trace;
	struct ctfout_type *type; /* by id - 1 */
	size_t n_type;
	bool clock_wanted, selected;
	int64_t zero; /* the time at which the trace's clock has the value 0 */
	uint64_t *ip; /* room for the addresses of one stack */
};

/* The start or the end of a loss on a CPU. Losses of one CPU do not overlap:
 * those that did were added up, because a packet has only one counter. */
struct ctfout_edge {
	int64_t cpu;	  /* -1: not known */
	int64_t time, to; /* ns; to: when the loss ends */
	uint64_t n;	  /* records; 0: not known */
	bool end;
};

/* The methods of the component class and its iterators. A component takes a
 * struct ctfout_input as its data; without one, its parameter 'inputs' is an
 * array with the path of a database. */
bt_component_class_initialize_method_status
ctfout_source_start(bt_self_component_source *self,
		    bt_self_component_source_configuration *config,
		    const bt_value *params, void *data);
void ctfout_source_end(bt_self_component_source *self);
bt_message_iterator_class_initialize_method_status
ctfout_source_iterate(bt_self_message_iterator *self,
		      bt_self_message_iterator_configuration *config,
		      bt_self_component_port_output *port);
bt_message_iterator_class_next_method_status
ctfout_source_next(bt_self_message_iterator *self, bt_message_array_const list,
		   uint64_t capacity, uint64_t *count);
bt_message_iterator_class_seek_beginning_method_status
ctfout_source_rewind(bt_self_message_iterator *self);
void ctfout_source_stop(bt_self_message_iterator *self);
