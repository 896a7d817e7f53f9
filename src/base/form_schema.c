// A form's table → JSON Schema 2020-12.
//
//   INT(first, "first row", …)   ->   "first":{"type":"integer","description":"first row"}
//
// Members that are always there are "required"; no others than the form's may be there.
#include "base/form.h"

static const char *const types[] = {
    [FORM_BOOL] = "boolean",   [FORM_INT] = "integer",  [FORM_NUM] = "number",
    [FORM_TEXT] = "string",    [FORM_WORD] = "string",  [FORM_NUMBERS] = "array",
    [FORM_TEXTS] = "array",    [FORM_GRID] = "array",   [FORM_COUNTS] = "object",
    [FORM_OBJECT] = "object",  [FORM_LIST] = "array",   [FORM_REFS] = "array",
    [FORM_MEMBERS] = "object", [FORM_PAIRS] = "object", [FORM_KEYED] = "object",
    [FORM_RECORD] = "object",
};

static void put_type(JsonWriter *w, const char *type, bool maybe) {
  json_key(w, "type");
  if (!maybe) return json_put_string(w, type);
  json_begin_array(w);
  json_put_string(w, type);
  json_put_string(w, "null");
  json_end_array(w);
}

static void put_inner(JsonWriter *w, const char *key, const char *type) {
  json_key(w, key);
  json_begin_object(w);
  json_member_string(w, "type", type);
}

static void put_object(JsonWriter *w, const Form *form, bool is_document);

// ---- members of a table of record_json.h --------------------------------------------------------

// The type of a member, the type of its elements, and whether the member may be null.
static const struct {
  const char *type, *element;
  bool maybe;
} record_types[] = {
    [RECORD_BOOL] = {"boolean", NULL, false},       [RECORD_INT] = {"integer", NULL, false},
    [RECORD_COUNT] = {"integer", NULL, true},       [RECORD_INT64] = {"integer", NULL, false},
    [RECORD_DOUBLE] = {"number", NULL, false},      [RECORD_FINITE] = {"number", NULL, true},
    [RECORD_MEASURE] = {"number", NULL, true},      [RECORD_POSITIVE] = {"number", NULL, true},
    [RECORD_TEXT] = {"string", NULL, false},        [RECORD_MAYBE_TEXT] = {"string", NULL, true},
    [RECORD_CODE] = {"string", NULL, true},         [RECORD_CHOICE] = {"string", NULL, false},
    [RECORD_OBJECT] = {"object", NULL, false},      [RECORD_INTS] = {"array", "integer", false},
    [RECORD_INT64S] = {"array", "integer", false},  [RECORD_CHOICES] = {"array", "string", false},
    [RECORD_ARRAY] = {"array", "object", false},    [RECORD_LIST] = {"array", "object", false},
    [RECORD_UINT32S] = {"array", "integer", false},
};

static void put_record(JsonWriter *w, const Record *record);

static void put_record_field(JsonWriter *w, const RecordField *field) {
  const char *element = record_types[field->kind].element;
  json_key(w, field->key);
  json_begin_object(w);
  put_type(w, record_types[field->kind].type, record_types[field->kind].maybe);
  if (field->help && field->help[0]) json_member_string(w, "description", field->help);
  if (element) put_inner(w, "items", element);
  if (field->record) put_record(w, field->record);
  if (element) json_end_object(w);
  json_end_object(w);
}

static void put_record(JsonWriter *w, const Record *record) {
  json_key(w, "properties");
  json_begin_object(w);
  for (int i = 0; i < record->n; i++) put_record_field(w, &record->fields[i]);
  json_end_object(w);
  json_key(w, "required");
  json_begin_array(w);
  for (int i = 0; i < record->n; i++) json_put_string(w, record->fields[i].key);
  json_end_array(w);
  json_member_bool(w, "additionalProperties", false);
}

// ---- members of a form --------------------------------------------------------------------------

// The type of each element of an array, or of each member with a name from outside.
static void put_elements(JsonWriter *w, const FormField *field) {
  static const char *const elements[] = {
      [FORM_NUMBERS] = "number", [FORM_TEXTS] = "string", [FORM_GRID] = "array",
      [FORM_COUNTS] = "number",  [FORM_PAIRS] = "string", [FORM_LIST] = "object",
      [FORM_REFS] = "object",    [FORM_KEYED] = "object", [FORM_RAW] = NULL,
  };
  const char *element = elements[field->kind];
  if (!element) return;
  const bool keys = types[field->kind][0] == 'o';
  put_inner(w, keys ? "additionalProperties" : "items", field->whole ? "integer" : element);
  if (field->form) put_object(w, field->form, false);
  json_end_object(w);
}

static void put_field(JsonWriter *w, const FormField *field) {
  json_key(w, field->key);
  json_begin_object(w);
  if (field->kind != FORM_RAW) put_type(w, types[field->kind], field->presence == FORM_MAYBE);
  if (field->help[0]) json_member_string(w, "description", field->help);
  put_elements(w, field);
  if (field->kind == FORM_OBJECT) put_object(w, field->form, false);
  if (field->kind == FORM_RECORD) put_record(w, field->record);
  json_end_object(w);
}

static void put_fields(JsonWriter *w, const Form *form) {
  for (int i = 0; i < form->n; i++) {
    const FormField *field = &form->field[i];
    if (field->kind == FORM_MEMBERS)
      put_fields(w, field->form);
    else
      put_field(w, field);
  }
}

// Members of WHEN_MEMBERS are left out together, so none of them is required.
static void put_required(JsonWriter *w, const Form *form) {
  for (int i = 0; i < form->n; i++) {
    const FormField *field = &form->field[i];
    if (field->presence == FORM_WHEN) continue;
    if (field->kind == FORM_MEMBERS)
      put_required(w, field->form);
    else
      json_put_string(w, field->key);
  }
}

static void put_object(JsonWriter *w, const Form *form, bool is_document) {
  if (form->help[0] && is_document) json_member_string(w, "description", form->help);
  json_key(w, "properties");
  json_begin_object(w);
  if (is_document) {
    json_key(w, "schema");
    json_begin_object(w);
    json_member_string(w, "const", JSON_DOCUMENT_SCHEMA);
    json_end_object(w);
  }
  put_fields(w, form);
  json_end_object(w);
  json_key(w, "required");
  json_begin_array(w);
  if (is_document) json_put_string(w, "schema");
  put_required(w, form);
  json_end_array(w);
  json_member_bool(w, "additionalProperties", false);
}

void form_schema(JsonWriter *writer, const Form *form, bool is_document) {
  json_begin_object(writer);
  json_member_string(writer, "$schema", "https://json-schema.org/draft/2020-12/schema");
  json_member_string(writer, "type", "object");
  put_object(writer, form, is_document);
  json_end_object(writer);
}
