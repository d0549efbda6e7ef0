// SPDX-License-Identifier: Apache-2.0
// JSON texts by clause of RFC 8259, with the verdict of the RFC: valid, invalid, or left to the
// implementation. A text is one value with the white space around it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace trainwatch::testing {

enum class JsonVerdict : std::uint8_t { valid, invalid, implementation };

struct JsonCase {
  JsonVerdict verdict = JsonVerdict::valid;
  std::string clause;  // of RFC 8259
  std::string name;
  std::string text;
};

// Clauses 2 to 5: structure, white space, literals, objects and arrays.
inline std::vector<JsonCase> json_structure_cases() {
  using enum JsonVerdict;
  return {
      {valid, "2", "space_around", " \t1 \t"},
      {valid, "2", "line_breaks_around", "\r\n1\r\n"},
      {valid, "2", "all_white_space_inside", " [ \t\r\n1 \n, {\r\"a\"\t: 2 } ] "},
      {valid, "2", "no_white_space", R"({"a":[1,{"b":null}],"c":""})"},
      {invalid, "2", "nothing", ""},
      {invalid, "2", "only_space", " "},
      {invalid, "2", "form_feed", "[\f1]"},
      {invalid, "2", "vertical_tab", "[\v1]"},
      {invalid, "2", "no_break_space",
       "[\xC2\xA0"
       "1]"},
      {invalid, "2", "nul_behind", std::string("1\0", 2)},
      {invalid, "2", "two_values", "1 2"},
      {invalid, "2", "two_strings", R"("a" "b")"},
      {invalid, "2", "two_objects", "{} {}"},
      {invalid, "2", "line_comment", "[1] // one"},
      {invalid, "2", "block_comment", "[1, /* two */ 2]"},
      {invalid, "2", "comment_with_a_quote", "{} /* \" */"},
      {invalid, "2", "byte_order_mark_inside",
       "[\xEF\xBB\xBF"
       "1]"},
      {invalid, "2", "lone_comma", ","},
      {invalid, "2", "lone_colon", ":"},
      {invalid, "2", "closing_bracket", "]"},
      {invalid, "2", "closing_brace", "}"},
      {invalid, "2", "bracket_too_many", "[1]]"},
      {invalid, "2", "brace_too_many", R"({"a": 1}})"},
      {valid, "3", "true", "true"},
      {valid, "3", "false", "false"},
      {valid, "3", "null", "null"},
      {valid, "3", "literals_inside", R"({"a": [true, false, null]})"},
      {invalid, "3", "capitals", "TRUE"},
      {invalid, "3", "capitalised", "Null"},
      {invalid, "3", "cut_off_literal", "tru"},
      {invalid, "3", "longer_literal", "nullx"},
      {invalid, "3", "undefined", "undefined"},
      {invalid, "3", "bare_word", "[hello]"},
      {invalid, "3", "python_none", "None"},
      {invalid, "3", "two_literals", "true false"},
      {valid, "4", "empty_object", "{}"},
      {valid, "4", "empty_object_with_space", "{ \n }"},
      {valid, "4", "one_member", R"({"a": "b"})"},
      {valid, "4", "empty_key", R"({"": 0})"},
      {valid, "4", "long_key", "{\"" + std::string(2000, 'k') + "\": 1}"},
      {valid, "4", "escaped_key", R"({"\u0061\n": 1})"},
      {valid, "4", "brackets_in_key", R"({"}]{[": 1})"},
      {implementation, "4", "same_key_twice", R"({"a": 1, "a": 2})"},
      {invalid, "4", "comma_behind_member", R"({"a": 1,})"},
      {invalid, "4", "two_commas_between_members", R"({"a": 1,, "b": 2})"},
      {invalid, "4", "comma_before_member", R"({, "a": 1})"},
      {invalid, "4", "no_comma_between_members", R"({"a": 1 "b": 2})"},
      {invalid, "4", "no_colon", R"({"a" 1})"},
      {invalid, "4", "two_colons", R"({"a":: 1})"},
      {invalid, "4", "equals_sign", R"({"a" = 1})"},
      {invalid, "4", "comma_for_colon", R"({"a", 1})"},
      {invalid, "4", "no_value", R"({"a": })"},
      {invalid, "4", "no_value_and_no_colon", R"({"a"})"},
      {invalid, "4", "bare_key", "{a: 1}"},
      {invalid, "4", "number_key", "{1: 1}"},
      {invalid, "4", "key_in_single_quotes", "{'a': 1}"},
      {invalid, "4", "object_as_key", "{{}: 1}"},
      {invalid, "4", "open_object", "{"},
      {invalid, "4", "open_object_behind_key", R"({"a")"},
      {invalid, "4", "open_object_behind_colon", R"({"a":)"},
      {invalid, "4", "open_object_behind_member", R"({"a": 1)"},
      {invalid, "4", "open_object_behind_comma", R"({"a": 1,)"},
      {invalid, "4", "object_closed_as_array", R"({"a": 1])"},
      {valid, "5", "empty_array", "[]"},
      {valid, "5", "mixed_array", R"([1, "a", null, {}, []])"},
      {valid, "5", "arrays_of_arrays", "[[], [[]], [[], []]]"},
      {invalid, "5", "comma_behind_element", "[1,]"},
      {invalid, "5", "comma_before_element", "[,1]"},
      {invalid, "5", "only_a_comma", "[,]"},
      {invalid, "5", "two_commas_between_elements", "[1,,2]"},
      {invalid, "5", "no_comma_between_elements", "[1 2]"},
      {invalid, "5", "no_comma_between_arrays", "[[] []]"},
      {invalid, "5", "colon_in_array", R"(["a": 1])"},
      {invalid, "5", "semicolon", "[1; 2]"},
      {invalid, "5", "open_array", "["},
      {invalid, "5", "open_array_behind_element", "[1"},
      {invalid, "5", "open_array_behind_comma", "[1,"},
      {invalid, "5", "array_closed_as_object", "[1}"},
      {invalid, "5", "inner_array_open", R"({"a": [1})"},
      {invalid, "5", "crossed_brackets", R"([{"a": 1]})"},
  };
}

// Clause 6.
inline std::vector<JsonCase> json_number_cases() {
  using enum JsonVerdict;
  return {
      {valid, "6", "zero", "0"},
      {valid, "6", "minus_zero", "-0"},
      {valid, "6", "integer", "1234567890"},
      {valid, "6", "negative", "-17"},
      {valid, "6", "fraction", "0.5"},
      {valid, "6", "negative_fraction", "-0.125"},
      {valid, "6", "zeros_behind_point", "1.000"},
      {valid, "6", "exponent", "1e2"},
      {valid, "6", "capital_exponent", "1E2"},
      {valid, "6", "positive_exponent", "1e+2"},
      {valid, "6", "negative_exponent", "125e-2"},
      {valid, "6", "zeros_before_exponent", "1e0002"},
      {valid, "6", "fraction_and_exponent", "-1.5e-3"},
      {valid, "6", "zero_with_exponent", "0e10"},
      {valid, "6", "seventeen_digits", "0.12345678901234567"},
      {implementation, "6", "forty_digits", std::string(40, '9')},
      {implementation, "6", "two_hundred_places", "0." + std::string(200, '3')},
      {implementation, "6", "larger_than_a_double", "1e400"},
      {implementation, "6", "smaller_than_a_double", "1e-400"},
      {implementation, "6", "exponent_of_twenty_digits", "1e" + std::string(20, '9')},
      {invalid, "6", "plus_sign", "+1"},
      {invalid, "6", "two_minus_signs", "--1"},
      {invalid, "6", "only_minus", "-"},
      {invalid, "6", "minus_and_space", "- 1"},
      {invalid, "6", "leading_zero", "01"},
      {invalid, "6", "negative_leading_zero", "-01"},
      {invalid, "6", "two_zeros", "00"},
      {invalid, "6", "zeros_before_point", "00.5"},
      {invalid, "6", "no_digit_before_point", ".5"},
      {invalid, "6", "minus_point", "-.5"},
      {invalid, "6", "no_digit_behind_point", "1."},
      {invalid, "6", "no_digit_between_point_and_e", "1.e2"},
      {invalid, "6", "two_points", "1.2.3"},
      {invalid, "6", "only_point", "."},
      {invalid, "6", "only_exponent", "e5"},
      {invalid, "6", "no_digit_behind_e", "1e"},
      {invalid, "6", "no_digit_behind_e_plus", "1e+"},
      {invalid, "6", "no_digit_behind_e_minus", "1e-"},
      {invalid, "6", "two_exponents", "1e2e3"},
      {invalid, "6", "fraction_in_exponent", "1e2.5"},
      {invalid, "6", "two_signs_in_exponent", "1e+-2"},
      {invalid, "6", "hexadecimal", "0x1F"},
      {invalid, "6", "octal", "0o17"},
      {invalid, "6", "underscore", "1_000"},
      {invalid, "6", "decimal_comma", "[1,5.,]"},
      {invalid, "6", "letter_behind", "1a"},
      {invalid, "6", "type_suffix", "1.5f"},
      {invalid, "6", "fullwidth_digit", "\xEF\xBC\x91"},
      {invalid, "6", "not_a_number", "NaN"},
      {invalid, "6", "negative_not_a_number", "-NaN"},
      {invalid, "6", "infinity", "Infinity"},
      {invalid, "6", "negative_infinity", "-Infinity"},
      {invalid, "6", "inf", "inf"},
      {invalid, "6", "nan", "nan"},
      {invalid, "6", "number_with_nul",
       std::string("1\0"
                   "2",
                   3)},
  };
}

// Clauses 7 and 8: strings, escapes and UTF-8.
inline std::vector<JsonCase> json_string_cases() {
  using enum JsonVerdict;
  return {
      {valid, "7", "empty_string", R"("")"},
      {valid, "7", "ascii", R"("a Z09!~")"},
      {valid, "7", "brackets_in_string", R"("{[}]:,")"},
      {valid, "7", "comment_in_string", R"("/* // */")"},
      {valid, "7", "delete_character", "\"\x7F\""},
      {valid, "7", "all_short_escapes", R"("\" \\ \/ \b \f \n \r \t")"},
      {valid, "7", "backslash_last", R"("a\\")"},
      {valid, "7", "escaped_backslash_and_quote", R"("\\\"")"},
      {valid, "7", "hex_escapes", R"("\u0041\u00e9\u20AC")"},
      {valid, "7", "escaped_nul", R"("a\u0000b")"},
      {valid, "7", "surrogate_pair", R"("\uD83D\ude00")"},
      {valid, "7", "escaped_noncharacter", R"("\uFFFF")"},
      {valid, "7", "escape_inside", R"(["\u005B", "\u007d"])"},
      {implementation, "8.2", "lone_high_surrogate", R"("\uD800")"},
      {implementation, "8.2", "lone_low_surrogate", R"("\uDC00")"},
      {implementation, "8.2", "high_surrogate_and_letter", R"("\uD800a")"},
      {implementation, "8.2", "high_surrogate_and_escape", R"("\uD800\n")"},
      {implementation, "8.2", "surrogates_in_wrong_order", R"("\uDC00\uD800")"},
      {implementation, "8.2", "two_high_surrogates", R"("\uD800\uD800")"},
      {invalid, "7", "line_break_in_string", "\"a\nb\""},
      {invalid, "7", "return_in_string", "\"a\rb\""},
      {invalid, "7", "tab_in_string", "\"a\tb\""},
      {invalid, "7", "nul_in_string", std::string("\"a\0b\"", 5)},
      {invalid, "7", "escape_character_in_string", "\"a\x1B[1m\""},
      {invalid, "7", "last_control_character", "\"\x1F\""},
      {invalid, "7", "unknown_escape", R"("\x41")"},
      {invalid, "7", "capital_escape", R"("\N")"},
      {invalid, "7", "octal_escape", R"("\012")"},
      {invalid, "7", "escaped_single_quote", R"("\'")"},
      {invalid, "7", "escaped_line_break", "\"a\\\nb\""},
      {invalid, "7", "escaped_nul_byte", std::string("\"\\\0\"", 4)},
      {invalid, "7", "escaped_utf8", "\"\\\xC3\xA9\""},
      {invalid, "7", "three_hex_digits", R"("\u004")"},
      {invalid, "7", "no_hex_digits", R"("\u")"},
      {invalid, "7", "wrong_hex_digit", R"("\u00G0")"},
      {invalid, "7", "capital_u", R"("\U0041")"},
      {invalid, "7", "sign_in_hex", R"("\u+041")"},
      {invalid, "7", "half_a_pair_and_half_an_escape", R"("\uD800\u")"},
      {invalid, "7", "open_string", R"("a)"},
      {invalid, "7", "open_string_behind_escape", R"("a\")"},
      {invalid, "7", "only_a_quote", R"(")"},
      {invalid, "7", "single_quotes", "'a'"},
      {invalid, "7", "quote_missing_in_front", R"(a")"},
      {invalid, "7", "quote_inside", R"("a"b")"},
      {invalid, "7", "two_parts", R"("a""b")"},
      {valid, "8.1", "two_bytes", "\"\xC3\xA9\""},
      {valid, "8.1", "three_bytes", "\"\xE2\x82\xAC\""},
      {valid, "8.1", "four_bytes", "\"\xF0\x9F\x98\x80\""},
      {valid, "8.1", "last_character", "\"\xF4\x8F\xBF\xBF\""},
      {valid, "8.1", "line_separator", "\"\xE2\x80\xA8\xE2\x80\xA9\""},
      {valid, "8.1", "noncharacter", "\"\xEF\xBF\xBF\""},
      {valid, "8.1", "byte_order_mark_in_string", "\"\xEF\xBB\xBF\""},
      {valid, "8.1", "utf8_key", "{\"\xC3\xA9\": 1}"},
      {invalid, "8.1", "latin_1", "\"\xE9\""},
      {invalid, "8.1", "byte_of_no_character", "\"\xFF\""},
      {invalid, "8.1", "continuation_alone", "\"\x80\""},
      {invalid, "8.1", "two_of_three_bytes", "\"\xE2\x82\""},
      {invalid, "8.1", "two_of_three_bytes_and_a_letter",
       "\"\xE2\x82"
       "a\""},
      {invalid, "8.1", "overlong_slash", "\"\xC0\xAF\""},
      {invalid, "8.1", "overlong_nul", "\"\xC0\x80\""},
      {invalid, "8.1", "overlong_three_bytes", "\"\xE0\x80\xAF\""},
      {invalid, "8.1", "surrogate_as_utf8", "\"\xED\xA0\x80\""},
      {invalid, "8.1", "above_the_last_character", "\"\xF4\x90\x80\x80\""},
      {invalid, "8.1", "five_bytes", "\"\xF8\x88\x80\x80\x80\""},
  };
}

// Clause 9: an implementation may limit how deep values nest. The decoders' limit is 64.
inline std::vector<JsonCase> json_nesting_cases() {
  using enum JsonVerdict;
  const auto nested = [](int depth, const std::string& open, const std::string& close) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += open;
    text += "1";
    for (int i = 0; i < depth; ++i) text += close;
    return text;
  };
  return {
      {valid, "9", "arrays_50_deep", nested(50, "[", "]")},
      {valid, "9", "objects_50_deep", nested(50, R"({"a":)", "}")},
      {valid, "9", "both_50_deep", nested(25, R"([{"a":)", "}]")},
      {implementation, "9", "arrays_70_deep", nested(70, "[", "]")},
      {implementation, "9", "objects_70_deep", nested(70, R"({"a":)", "}")},
      {implementation, "9", "arrays_5000_deep", nested(5000, "[", "]")},
      {invalid, "9", "open_arrays_5000_deep", std::string(5000, '[')},
      {valid, "9", "long_array", "[0" + nested(2000, ",1", "") + "]"},
  };
}

inline std::vector<JsonCase> json_cases() {
  std::vector<JsonCase> all = json_structure_cases();
  for (auto* more : {&json_number_cases, &json_string_cases, &json_nesting_cases}) {
    for (JsonCase& json : more()) all.push_back(std::move(json));
  }
  return all;
}

}  // namespace trainwatch::testing
