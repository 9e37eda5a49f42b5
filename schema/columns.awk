# columns.awk - the columns of each named query, as C.
# usage: awk -v out=header|table -f schema/columns.awk schema/sql/*.sql
#
# header: an enum per query, CODE_FRAMES_ID for column id of the query
# code_frames, which is schema/columns.h. table: the names of the columns by
# query, query_columns[], for the test that compares them with SQLite's.
#
# A query begins with SELECT or WITH; other texts under a "-- name:" have no
# columns. Its columns are those of the first SELECT outside brackets: each is
# NAME, TABLE.NAME or ends in AS NAME. Instead of that, a comment under the
# "-- name:" can list them, which it must for SELECT *, and for a query that the
# caller completes in the middle of the list:
#	-- columns: id name		these two
#	-- columns: id ...		id, and others that the caller knows
#	-- columns: as other_query	the same as those of other_query
#
# header has an enum for each table of computed.sql, too: COMPUTED_WAIT_TID.

function fail(line, message)
{
	printf "%s:%d: %s\n", file, line, message >"/dev/stderr"
	failed = 1
}

# Splits text[from, to) at blanks; brackets, commas, strings and quoted names
# are tokens of their own. Sets token[1 .. n_token], line_of[].
function tokenize(i, s, t)
{
	n_token = 0
	for (i = 1; i <= n_line; i++) {
		s = text[i]
		while (s != "") {
			if (match(s, /^[ \t]+/)) {
				s = substr(s, RLENGTH + 1)
				continue
			}
			if (s ~ /^--/)
				break
			if (!match(s, /^'[^']*'/) && !match(s, /^"[^"]*"/) &&
			    !match(s, /^[A-Za-z_][A-Za-z_0-9]*/) &&
			    !match(s, /^[0-9]+/))
				RLENGTH = 1
			token[++n_token] = substr(s, 1, RLENGTH)
			line_of[n_token] = start + i
			s = substr(s, RLENGTH + 1)
		}
	}
}

function is_name(t)
{
	return t ~ /^["A-Za-z_]/ && toupper(t) !~ /^(NULL|END)$/
}

# The C name of a column: Thread name -> thread_name, #type -> type.
function plain(t)
{
	t = tolower(t)
	gsub(/[^a-z0-9]+/, "_", t)
	gsub(/^_|_$/, "", t)
	return t
}

# Appends the column token[a .. b] to names.
function add_column(a, b)
{
	if (b < a)
		return fail(line_of[b], query ": the list of columns ends in a comma: add '-- columns:'")
	if (token[b] == "*")
		return fail(line_of[b], query ": SELECT * has no names: add '-- columns:'")
	if (b > a && toupper(token[b - 1]) == "AS" ||
	    is_name(token[b]) && (a == b || a == b - 2 && token[b - 1] == "."))
		names = names (names ? " " : "") plain(token[b])
	else
		fail(line_of[b], query ": this column has no name: add AS")
}

function parse_columns(i, depth, a)
{
	names = ""
	tokenize()
	if (!n_token || toupper(token[1]) !~ /^(SELECT|WITH)$/)
		return 0
	for (i = 1; i <= n_token && (depth || toupper(token[i]) != "SELECT"); i++)
		depth += (token[i] == "(") - (token[i] == ")")
	if (toupper(token[i + 1]) == "DISTINCT")
		i++
	for (a = ++i; i <= n_token; i++) {
		depth += (token[i] == "(") - (token[i] == ")")
		if (!depth && toupper(token[i]) ~ /^(FROM|WHERE|ORDER|;)$/)
			break
		if (!depth && token[i] == ",") {
			add_column(a, i - 1)
			a = i + 1
		}
	}
	add_column(a, i - 1)
	return 1
}

function end_query()
{
	if (query == "")
		return
	if (query in columns_of)
		fail(start, query ": there is another query of this name")
	if (listed != "") {
		columns_of[query] = listed
	} else if (parse_columns()) {
		columns_of[query] = names
	} else {
		query = ""
		return
	}
	at[query] = start
	from[query] = file
	order[++n_query] = query
	query = ""
}

function put_enum(q, list, n, w, i, c)
{
	n = split(list, w, " ")
	if (!n || w[1] == "...")
		return
	print "\nenum { /* " from[q] " */"
	for (i = 1; i <= n && w[i] != "..."; i++) {
		c = toupper(q "_" w[i])
		if (c in taken) {
			file = from[q]
			fail(at[q], q ": " c " is a column of " taken[c] " too: choose another name")
		}
		taken[c] = q
		print "\t" c ","
	}
	print "};"
}

# Notes the columns of a line of CREATE TABLE, each "NAME TYPE".
function add_computed(line, n, part, i, w)
{
	sub(/--.*/, "", line)
	n = split(line, part, ",")
	for (i = 1; i <= n; i++)
		if (split(part[i], w, " ") >= 2)
			columns_of[table] = columns_of[table] " " w[1]
}

FNR == 1 {
	end_query()
	file = FILENAME
}
/^-- name: / {
	end_query()
	query = $3
	start = FNR
	n_line = 0
	listed = ""
	next
}
FILENAME ~ /computed\.sql$/ && out == "header" {
	if (/^CREATE TABLE /) {
		table = $3
		sub(/\(.*/, "", table)
		table = "computed_" table
		order[++n_query] = table
		from[table] = FILENAME
		at[table] = FNR
	} else if (/^\);/) {
		table = ""
	} else if (table != "") {
		add_computed($0)
	}
}
query != "" {
	text[++n_line] = $0
}
/^-- columns: / && query != "" {
	listed = substr($0, 13)
}

END {
	end_query()
	for (i = 1; i <= n_query; i++) {
		q = order[i]
		if (columns_of[q] ~ /^as /) {
			file = from[q]
			other = substr(columns_of[q], 4)
			if (!(other in columns_of) || columns_of[other] ~ /^as /)
				fail(at[q], q ": no columns of " other)
			same[q] = 1
			columns_of[q] = columns_of[other]
		}
	}
	if (out == "table")
		print "\nconst struct query_columns query_columns[] = {"
	else
		print "/* columns.h - the columns of the named queries; made by columns.awk. */\n#pragma once"
	for (i = 1; i <= n_query; i++) {
		q = order[i]
		if (out == "table")
			printf "\t{ \"%s\", \"%s\" },\n", q, columns_of[q]
		else if (!(q in same))
			put_enum(q, columns_of[q])
	}
	if (out == "table")
		print "\t{ 0, 0 }\n};"
	exit failed
}
