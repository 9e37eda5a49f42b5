-- callsite.sql - deletes what is small of the results of an earlier call-site
-- check. The other tables are compared with the new results first.
DELETE FROM other_file;
DELETE FROM user_trust;
