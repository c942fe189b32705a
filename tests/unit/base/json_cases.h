/*
 * What RFC 8259 says about texts, one line each. Names follow the habit of the public suites: y_
 * must be accepted, n_ must be refused, i_ is left to the implementation. For an i_ the third
 * argument is our answer and the fourth the reason for it.
 *
 * Written for this project from the grammar; the public suite itself runs in tests/it/json_suite.
 */

/* clang-format off */
#define JSON_CASES(Y, N, I)                                                                     \
    /* section 2: six structural characters, white space, any value at the top */               \
    Y(structure_lonely_number, "42")                                                            \
    Y(structure_lonely_negative, "-0.5")                                                        \
    Y(structure_lonely_string, "\"asd\"")                                                       \
    Y(structure_lonely_empty_string, "\"\"")                                                    \
    Y(structure_lonely_true, "true")                                                            \
    Y(structure_lonely_false, "false")                                                          \
    Y(structure_lonely_null, "null")                                                            \
    Y(structure_lonely_zero, "0")                                                               \
    Y(structure_lonely_array, "[]")                                                             \
    Y(structure_lonely_object, "{}")                                                            \
    Y(structure_space_before, " [1]")                                                           \
    Y(structure_space_after, "[1] ")                                                            \
    Y(structure_newline_at_end, "[\"a\"]\n")                                                    \
    Y(structure_number_then_newline, "7\n")                                                     \
    Y(structure_all_four_spaces_everywhere, " \t\r\n{ \t\r\n\"a\" \t\r\n: \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 \t\r\n] \t\r\n} \t\r\n") \
    Y(structure_carriage_returns_only, "[\r1\r,\r2\r]\r")                                       \
    Y(structure_tabs_only, "\t[\t1\t]\t")                                                       \
    Y(structure_long_space_run, "[                                        1                                        ]") \
    Y(structure_newlines_run, "[\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n1]")                    \
    Y(structure_mixed_kinds, "[null,1,\"1\",{},[],true,false]")                                 \
    N(structure_nothing, "")                                                                    \
    N(structure_space_only, " ")                                                                \
    N(structure_newlines_only, "\n\n\n")                                                        \
    N(structure_long_space_only, "                                                ")            \
    N(structure_form_feed, "[\f]")                                                              \
    N(structure_form_feed_before, "\f[]")                                                       \
    N(structure_vertical_tab, "[\v]")                                                           \
    N(structure_nbsp, "[\xC2\xA0]")                                                             \
    N(structure_next_line, "[\xC2\x85]")                                                        \
    N(structure_line_separator_outside_string, "[\xE2\x80\xA8]")                                \
    N(structure_word_joiner, "[\xE2\x81\xA0]")                                                  \
    N(structure_zero_width_space, "\xE2\x80\x8B[]")                                             \
    N(structure_ideographic_space, "[1,\xE3\x80\x80" "2]")                                      \
    N(structure_nul_alone, "\0")                                                                \
    N(structure_nul_after_value, "[]\0")                                                        \
    N(structure_nul_before_value, "\0[]")                                                       \
    N(structure_nul_inside_array, "[\0]")                                                       \
    N(structure_nul_between_elements, "[1\0,2]")                                                \
    N(structure_delete_character, "[\x7F]")                                                     \
    N(structure_escape_character, "\x1B[1]")                                                    \
    N(structure_two_values, "1 2")                                                              \
    N(structure_two_arrays, "[][]")                                                             \
    N(structure_two_objects, "{}{}")                                                            \
    N(structure_array_then_word, "[1]x")                                                        \
    N(structure_array_then_closing, "[1]]")                                                     \
    N(structure_object_then_closing, "{}}")                                                     \
    N(structure_object_then_comma, "{},")                                                       \
    N(structure_object_then_comment, "{\"a\":1}//c")                                            \
    N(structure_object_then_hash_comment, "{\"a\":1}#c")                                        \
    N(structure_comment_only, "/* c */")                                                        \
    N(structure_comment_before, "/* c */[]")                                                    \
    N(structure_comment_in_array, "[1/* c */]")                                                 \
    N(structure_comment_half_open, "[]/")                                                       \
    N(structure_open_array, "[")                                                                \
    N(structure_open_object, "{")                                                               \
    N(structure_close_array, "]")                                                               \
    N(structure_close_object, "}")                                                              \
    N(structure_comma, ",")                                                                     \
    N(structure_colon, ":")                                                                     \
    N(structure_comma_in_array, "[,")                                                           \
    N(structure_comma_in_object, "{,")                                                          \
    N(structure_array_closed_by_brace, "[1}")                                                   \
    N(structure_object_closed_by_bracket, "{\"a\":1]")                                          \
    N(structure_crossed_brackets, "[{]}")                                                       \
    N(structure_open_array_open_object, "[{")                                                   \
    N(structure_open_object_open_array, "{[")                                                   \
    N(structure_open_array_quote, "[\"")                                                        \
    N(structure_open_object_quote, "{\"")                                                       \
    N(structure_open_array_letter, "[a")                                                        \
    N(structure_unclosed_after_space, "[1 ")                                                    \
    N(structure_unclosed_after_newline, "[1\n")                                                 \
    N(structure_angle_brackets, "<null>")                                                       \
    N(structure_angle_in_array, "[<1>]")                                                        \
    N(structure_parentheses, "(1)")                                                             \
    N(structure_lone_quote, "\"")                                                               \
    N(structure_lone_apostrophe, "'")                                                           \
    N(structure_lone_backslash, "\\")                                                           \
    N(structure_escape_outside_string, "[\\u0031]")                                             \
    N(structure_unescaped_word, "asd")                                                          \
    N(structure_open_string_then_end, "[\"asd]")                                                \
    N(structure_byte_order_mark_only, "\xEF\xBB\xBF")                                           \
    N(structure_half_a_byte_order_mark, "\xEF\xBB{}")                                           \
    N(structure_byte_order_mark_at_end, "{}\xEF\xBB\xBF")                                       \
    N(structure_lone_high_byte, "\xE9")                                                         \
    N(structure_lone_utf8_letter, "\xC3\xA5")                                                   \
    N(structure_double_array, "[][1]")                                                          \
    N(structure_json_lines, "{\"a\":1}\n{\"a\":2}\n")                                           \
    N(structure_record_separator, "\x1E[]")                                                     \
    N(structure_jsonp, "f([])")                                                                 \
    N(structure_anti_hijack_prefix, ")]}',\n{}")                                                \
    N(structure_trailing_semicolon, "[];")                                                      \
    /* section 3: three words, in lower case */                                                 \
    Y(word_true_in_array, "[true]")                                                             \
    Y(word_false_in_array, "[false]")                                                           \
    Y(word_null_in_array, "[null]")                                                             \
    Y(word_null_as_member, "{\"null\":null}")                                                   \
    N(word_nul, "[nul]")                                                                        \
    N(word_tru, "[tru]")                                                                        \
    N(word_fals, "[fals]")                                                                      \
    N(word_n_at_end, "n")                                                                       \
    N(word_tru_at_end, "tru")                                                                   \
    N(word_fals_at_end, "fals")                                                                 \
    N(word_truee, "[truee]")                                                                    \
    N(word_true_true, "[true true]")                                                            \
    N(word_truefalse, "truefalse")                                                              \
    N(word_null1, "null1")                                                                      \
    N(word_capital_true, "[True]")                                                              \
    N(word_capitals_true, "TRUE")                                                               \
    N(word_capital_null, "[Null]")                                                              \
    N(word_none, "[None]")                                                                      \
    N(word_undefined, "[undefined]")                                                            \
    N(word_nan, "[NaN]")                                                                        \
    N(word_small_nan, "nan")                                                                    \
    N(word_infinity, "[Infinity]")                                                              \
    N(word_minus_infinity, "[-Infinity]")                                                       \
    N(word_inf, "[inf]")                                                                        \
    N(word_yes, "yes")                                                                          \
    N(word_with_nul, "[tr\0ue]")                                                                \
    N(word_cyrillic_look_alike, "[nu\xD3\x8Fl]")                                                \
    /* section 4: objects */                                                                    \
    Y(object_empty, "{}")                                                                       \
    Y(object_empty_with_space, "{ \n }")                                                        \
    Y(object_one_member, "{\"a\":1}")                                                           \
    Y(object_two_members, "{\"a\":1,\"b\":2}")                                                  \
    Y(object_empty_key, "{\"\":0}")                                                             \
    Y(object_space_key, "{\" \":0}")                                                            \
    Y(object_newline_after_brace, "{\n\"a\":1\n}")                                              \
    Y(object_escaped_nul_in_key, "{\"a\\u0000b\":1}")                                           \
    Y(object_keys_that_differ_after_nul, "{\"a\\u0000b\":1,\"a\\u0000c\":2,\"a\":3}")           \
    Y(object_keys_that_differ_in_case, "{\"a\":1,\"A\":2}")                                     \
    Y(object_keys_that_differ_in_normal_form, "{\"\xC3\xA9\":1,\"e\xCC\x81\":2}")               \
    Y(object_keys_that_are_prefixes, "{\"a\":1,\"aa\":2,\"aaa\":3,\"aaaaaaaa\":4,\"aaaaaaaaa\":5}") \
    Y(object_long_keys_that_differ_in_the_middle, "{\"aaaaaaaaaXaaaaaaaaaa\":1,\"aaaaaaaaaYaaaaaaaaaa\":2}") \
    Y(object_same_key_in_another_object, "{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":1}]}") \
    Y(object_key_equal_to_value, "{\"a\":\"a\"}")                                               \
    Y(object_proto_key, "{\"__proto__\":{\"x\":1}}")                                            \
    Y(object_escaped_key, "{\"\\u0061\\n\":1}")                                                 \
    Y(object_extreme_numbers, "{\"min\":-1.0e+28,\"max\":1.0e+28}")                             \
    Y(object_long_string, "{\"id\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}") \
    Y(object_utf8_keys, "{\"\xD0\xBF\xD0\xBE\":1,\"\xE4\xB8\xAD\":2,\"\xF0\x9F\x98\x80\":3}")   \
    Y(object_seventeen_members, "{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":1,\"k\":1,\"l\":1,\"m\":1,\"n\":1,\"o\":1,\"p\":1,\"q\":1}") \
    N(object_no_colon, "{\"a\"1}")                                                              \
    N(object_no_colon_no_value, "{\"a\"}")                                                      \
    N(object_no_value, "{\"a\":}")                                                              \
    N(object_no_key, "{:1}")                                                                    \
    N(object_value_missing_at_end, "{\"a\":")                                                   \
    N(object_colon_missing_at_end, "{\"a\"")                                                    \
    N(object_no_closing, "{\"a\":1")                                                            \
    N(object_no_closing_after_comma, "{\"a\":1,")                                               \
    N(object_two_colons, "{\"a\"::1}")                                                          \
    N(object_comma_instead_of_colon, "{\"a\",1}")                                               \
    N(object_equals_instead_of_colon, "{\"a\"=1}")                                              \
    N(object_arrow_instead_of_colon, "{\"a\"=>1}")                                              \
    N(object_semicolon_between, "{\"a\":1;\"b\":2}")                                            \
    N(object_no_comma, "{\"a\":1 \"b\":2}")                                                     \
    N(object_trailing_comma, "{\"a\":1,}")                                                      \
    N(object_many_trailing_commas, "{\"a\":1,,,}")                                              \
    N(object_leading_comma, "{,\"a\":1}")                                                       \
    N(object_two_commas, "{\"a\":1,,\"b\":2}")                                                  \
    N(object_comma_only, "{,}")                                                                 \
    N(object_bare_key, "{a:1}")                                                                 \
    N(object_apostrophe_key, "{'a':1}")                                                         \
    N(object_number_key, "{1:1}")                                                               \
    N(object_null_key, "{null:1}")                                                              \
    N(object_array_key, "{[]:1}")                                                               \
    N(object_object_key, "{{}:1}")                                                              \
    N(object_bare_value, "{\"a\":b}")                                                           \
    N(object_value_twice, "{\"a\":1 2}")                                                        \
    N(object_member_in_array, "[\"a\":1]")                                                      \
    N(object_key_and_half, "{\"a\":1,\"b\"}")                                                   \
    N(object_nested_unclosed, "{\"a\":{\"b\":1}")                                               \
    N(object_template_literal_key, "{`a`:1}")                                                   \
    N(object_emoji, "{\xF0\x9F\x87\xA8}")                                                       \
    N(object_broken_utf8_key, "{\"\xB9\":1}")                                                   \
    N(object_garbage_at_end, "{\"a\":1#}")                                                      \
    N(object_comment_at_end, "{\"a\":1/**/}")                                                   \
    N(object_spread, "{...a}")                                                                  \
    N(object_open_key_string, "{\"a:1}")                                                        \
    I(object_duplicate_key, "{\"a\":1,\"a\":2}", false, "two readers that differ on which counts are an attack") \
    I(object_duplicate_key_same_value, "{\"a\":1,\"a\":1}", false, "duplicates are refused")    \
    I(object_duplicate_empty_key, "{\"\":1,\"\":1}", false, "duplicates are refused")           \
    I(object_duplicate_key_by_escape, "{\"a\":1,\"\\u0061\":2}", false, "keys are compared unescaped") \
    I(object_duplicate_key_by_slash, "{\"/\":1,\"\\/\":2}", false, "keys are compared unescaped") \
    I(object_duplicate_key_by_surrogates, "{\"\xF0\x9F\x98\x80\":1,\"\\ud83d\\ude00\":2}", false, "keys are compared unescaped") \
    I(object_duplicate_key_not_adjacent, "{\"a\":1,\"b\":{\"c\":1},\"a\":2}", false, "duplicates are refused") \
    I(object_duplicate_nine_bytes, "{\"abcdefghi\":1,\"abcdefgh\\u0069\":1}", false, "duplicates are refused") \
    I(object_duplicate_key_wide, "{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":1,\"k\":1,\"l\":1,\"m\":1,\"n\":1,\"o\":1,\"p\":1,\"b\":1}", false, "duplicates are refused at any width") \
    I(object_duplicate_lone_surrogates, "{\"\\ud800\":1,\"\\ud801\":2}", false, "both read as U+FFFD") \
    /* section 5: arrays */                                                                     \
    Y(array_empty, "[]")                                                                        \
    Y(array_empty_with_space, "[ \t]")                                                          \
    Y(array_one, "[1]")                                                                         \
    Y(array_of_empty_string, "[\"\"]")                                                          \
    Y(array_of_arrays, "[[],[[]],[[],[]]]")                                                     \
    Y(array_of_objects, "[{},{\"a\":{}}]")                                                      \
    Y(array_space_between, "[1 , 2]")                                                           \
    Y(array_ends_with_newline, "[1\n]")                                                         \
    Y(array_several_nulls, "[1,null,null,null,2]")                                              \
    Y(array_deep_but_allowed, "[[[[[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]]]]]")                      \
    N(array_trailing_comma, "[1,]")                                                             \
    N(array_two_trailing_commas, "[1,,]")                                                       \
    N(array_leading_comma, "[,1]")                                                              \
    N(array_just_comma, "[,]")                                                                  \
    N(array_two_commas, "[1,,2]")                                                               \
    N(array_no_comma, "[1 2]")                                                                  \
    N(array_no_comma_between_strings, "[\"a\" \"b\"]")                                          \
    N(array_no_comma_between_arrays, "[[] []]")                                                 \
    N(array_comma_after_close, "[1],")                                                          \
    N(array_colon_instead_of_comma, "[1:2]")                                                    \
    N(array_semicolon, "[1;2]")                                                                 \
    N(array_unclosed, "[1")                                                                     \
    N(array_unclosed_empty_string, "[\"\"")                                                     \
    N(array_unclosed_after_comma, "[1,")                                                        \
    N(array_unclosed_nested, "[[1]")                                                            \
    N(array_extra_close, "[1]]")                                                                \
    N(array_star, "[*]")                                                                        \
    N(array_spread, "[...1]")                                                                   \
    N(array_elision, "[1, ,2]")                                                                 \
    N(array_broken_utf8, "[\xFF]")                                                              \
    N(array_letter_and_broken_utf8, "[a\xE5]")                                                  \
    N(array_tab_in_odd_place, "[\"\ta\\f\"]")                                                   \
    N(array_newlines_unclosed, "[1,\n1\n,1")                                                    \
    /* section 6: numbers */                                                                    \
    Y(number_zero, "[0]")                                                                       \
    Y(number_minus_zero, "[-0]")                                                                \
    Y(number_one_digit, "[7]")                                                                  \
    Y(number_negative, "[-1]")                                                                  \
    Y(number_long_integer, "[123456789012345678901234567890]")                                  \
    Y(number_fraction, "[1.5]")                                                                 \
    Y(number_zero_fraction, "[0.0]")                                                            \
    Y(number_minus_zero_fraction, "[-0.0]")                                                     \
    Y(number_many_decimals, "[123.456789012345678901234567890]")                                \
    Y(number_close_to_zero, "[-0.000000000000000000000000000000000000000000000000000001]")      \
    Y(number_exponent, "[1e2]")                                                                 \
    Y(number_capital_exponent, "[1E2]")                                                         \
    Y(number_exponent_plus, "[1e+2]")                                                           \
    Y(number_exponent_minus, "[1e-2]")                                                          \
    Y(number_capital_exponent_plus, "[1E+2]")                                                   \
    Y(number_capital_exponent_minus, "[1E-2]")                                                  \
    Y(number_zero_exponent, "[0e1]")                                                            \
    Y(number_zero_exponent_plus, "[0e+1]")                                                      \
    Y(number_exponent_zero, "[1e0]")                                                            \
    Y(number_exponent_with_leading_zeros, "[1e007]")                                            \
    Y(number_fraction_exponent, "[123.456e78]")                                                 \
    Y(number_fraction_exponent_minus, "[-1.25E-3]")                                             \
    Y(number_after_space, "[ 4]")                                                               \
    Y(number_zero_then_comma, "[0,0]")                                                          \
    Y(number_i64_smallest, "[-9223372036854775808]")                                            \
    Y(number_u64_largest, "[18446744073709551615]")                                             \
    N(number_leading_zero, "[01]")                                                              \
    N(number_two_zeros, "[00]")                                                                 \
    N(number_minus_leading_zero, "[-01]")                                                       \
    N(number_leading_zero_fraction, "[012.5]")                                                  \
    N(number_leading_zero_lonely, "012")                                                        \
    N(number_plus, "[+1]")                                                                      \
    N(number_plus_plus, "[++1]")                                                                \
    N(number_plus_infinity, "[+Inf]")                                                           \
    N(number_minus_only, "[-]")                                                                 \
    N(number_minus_at_end, "-")                                                                 \
    N(number_minus_minus, "[--1]")                                                              \
    N(number_minus_space, "[- 1]")                                                              \
    N(number_minus_letter, "[-a]")                                                              \
    N(number_minus_point, "[-.5]")                                                              \
    N(number_unicode_minus, "[\xE2\x88\x92" "1]")                                               \
    N(number_point_first, "[.5]")                                                               \
    N(number_point_last, "[1.]")                                                                \
    N(number_point_last_at_end, "1.")                                                           \
    N(number_minus_point_last, "[-2.]")                                                         \
    N(number_point_only, "[.]")                                                                 \
    N(number_point_then_exponent, "[1.e5]")                                                     \
    N(number_point_first_exponent, "[.2e-3]")                                                   \
    N(number_two_points, "[1.2.3]")                                                             \
    N(number_point_minus, "[0.-1]")                                                             \
    N(number_comma_for_point, "1,5")                                                            \
    N(number_exponent_missing, "[1e]")                                                          \
    N(number_exponent_missing_at_end, "1e")                                                     \
    N(number_exponent_plus_missing, "[1e+]")                                                    \
    N(number_exponent_minus_missing, "[1E-]")                                                   \
    N(number_exponent_plus_at_end, "1e+")                                                       \
    N(number_exponent_two_signs, "[1e+-2]")                                                     \
    N(number_exponent_fraction, "[1e2.5]")                                                      \
    N(number_exponent_twice, "[1e2e3]")                                                         \
    N(number_exponent_space, "[1e 2]")                                                          \
    N(number_exponent_letter, "[1ea]")                                                          \
    N(number_exponent_only, "[e1]")                                                             \
    N(number_capital_exponent_only, "[0E]")                                                     \
    N(number_hex, "[0x1F]")                                                                     \
    N(number_hex_without_digits, "[0x]")                                                        \
    N(number_octal, "[0o17]")                                                                   \
    N(number_binary, "[0b11]")                                                                  \
    N(number_underscore, "[1_000]")                                                             \
    N(number_thousands_space, "[1 000.0]")                                                      \
    N(number_apostrophe, "[1'000]")                                                             \
    N(number_big_int_suffix, "[1n]")                                                            \
    N(number_float_suffix, "[1.0f]")                                                            \
    N(number_unit, "[12px]")                                                                    \
    N(number_expression, "[1+2]")                                                               \
    N(number_fraction_bar, "[1/2]")                                                             \
    N(number_minus_infinity_word, "[-Infinity]")                                                \
    N(number_minus_nan, "[-NaN]")                                                               \
    N(number_fullwidth_digit, "[\xEF\xBC\x91]")                                                 \
    N(number_arabic_digit, "[\xD9\xA1]")                                                        \
    N(number_broken_utf8_inside, "[1\xE5]")                                                     \
    N(number_broken_utf8_after_exponent, "[1e\xE5]")                                            \
    N(number_broken_utf8_in_big, "[12345678901234567\xE5]")                                     \
    N(number_nul_inside, "[1\0" "2]")                                                           \
    N(number_with_alpha, "[1.2a-3]")                                                            \
    N(number_then_quote, "[1\"a\"]")                                                            \
    N(number_then_array, "[1[]]")                                                               \
    I(number_huge_exponent, "[1e9999]", true, "kept as written; cs_json_f64 says it does not fit") \
    I(number_huge_negative_exponent, "[1e-9999]", true, "kept as written; reads as 0")          \
    I(number_exponent_beyond_64_bits, "[0.4e00669999999999999999999999999999999999999999]", true, "kept as written") \
    I(number_negative_huge_exponent, "[-1e+9999]", true, "kept as written")                     \
    I(number_overflowing_mantissa, "[123123e100000]", true, "kept as written")                  \
    I(number_underflow, "[123e-10000000]", true, "kept as written")                             \
    I(number_too_big_for_64_bits, "[100000000000000000000]", true, "kept as written; cs_json_i64 says it does not fit") \
    I(number_too_small_for_64_bits, "[-100000000000000000000]", true, "kept as written")        \
    I(number_beyond_double_precision, "[9007199254740993]", true, "kept as written; exact as an integer") \
    I(number_as_key_of_nothing, "[-0e-0]", true, "minus zero is a number")                      \
    /* section 7: strings */                                                                    \
    Y(string_simple, "[\"abc\"]")                                                               \
    Y(string_one_space, "[\" \"]")                                                              \
    Y(string_fifteen, "[\"123456789012345\"]")                                                  \
    Y(string_sixteen, "[\"1234567890123456\"]")                                                 \
    Y(string_seventeen, "[\"12345678901234567\"]")                                              \
    Y(string_thirty_two, "[\"12345678901234567890123456789012\"]")                              \
    Y(string_all_escapes, "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]")                                   \
    Y(string_escape_at_sixteen, "[\"12345678901234\\n7890\"]")                                  \
    Y(string_quote_escaped_at_end, "[\"abc\\\"\"]")                                             \
    Y(string_backslash_escaped_at_end, "[\"abc\\\\\"]")                                         \
    Y(string_two_backslashes_and_n, "[\"\\\\n\"]")                                              \
    Y(string_u_escape, "[\"\\u0041\"]")                                                         \
    Y(string_u_escape_lower_hex, "[\"\\u00e9\\uabcd\"]")                                        \
    Y(string_u_escape_upper_hex, "[\"\\u00E9\\uABCD\"]")                                        \
    Y(string_u_escape_nul, "[\"\\u0000\"]")                                                     \
    Y(string_u_escape_control, "[\"\\u0012\"]")                                                 \
    Y(string_u_escape_quote, "[\"\\u0022\"]")                                                   \
    Y(string_u_escape_backslash, "[\"\\u005C\"]")                                               \
    Y(string_u_escape_line_separator, "[\"\\u2028\\u2029\"]")                                   \
    Y(string_u_escape_pair, "[\"\\uD834\\uDD1E\"]")                                             \
    Y(string_u_escape_pair_lower, "[\"\\ud83d\\ude39\"]")                                       \
    Y(string_u_escape_pair_last, "[\"\\uDBFF\\uDFFF\"]")                                        \
    Y(string_u_escape_noncharacter, "[\"\\uFFFF\\uFFFE\\uFDD0\"]")                              \
    Y(string_u_escape_byte_order_mark, "[\"\\uFEFF\"]")                                         \
    Y(string_escaped_u_is_text, "[\"\\\\u0000\"]")                                              \
    Y(string_two_bytes, "[\"\xC3\xA9\xCF\x80\"]")                                               \
    Y(string_two_bytes_first_and_last, "[\"\xC2\x80\xDF\xBF\"]")                                \
    Y(string_three_bytes, "[\"\xE2\x82\xAC\xE4\xB8\xAD\"]")                                     \
    Y(string_three_bytes_first_and_last, "[\"\xE0\xA0\x80\xEF\xBF\xBF\"]")                      \
    Y(string_three_bytes_around_surrogates, "[\"\xED\x9F\xBF\xEE\x80\x80\"]")                   \
    Y(string_four_bytes, "[\"\xF0\x9D\x84\x9E\xF0\x9F\x98\x80\"]")                              \
    Y(string_four_bytes_first_and_last, "[\"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\"]")               \
    Y(string_byte_order_mark_inside, "[\"\xEF\xBB\xBF\"]")                                      \
    Y(string_line_separators, "[\"\xE2\x80\xA8\xE2\x80\xA9\"]")                                 \
    Y(string_word_joiner, "[\"\xE2\x81\xA0\"]")                                                 \
    Y(string_noncharacters, "[\"\xEF\xB7\x90\xF0\x9B\xBF\xBF\"]")                               \
    Y(string_delete_character, "[\"\x7F\"]")                                                    \
    Y(string_structural_characters, "[\"{}[]:,\"]")                                             \
    Y(string_comment_text, "[\"a/*b*/c/*d//e\"]")                                               \
    Y(string_apostrophe, "[\"it's\"]")                                                          \
    Y(string_mixed_lengths_of_utf8, "[\"a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z\"]")             \
    Y(string_utf8_across_sixteen, "[\"1234567890123\xF0\x9F\x98\x80 67890\"]")                  \
    N(string_unclosed, "\"abc")                                                                 \
    N(string_unclosed_long, "[\"1234567890123456789012345678901234567890")                      \
    N(string_unclosed_after_escape, "[\"abc\\\"")                                               \
    N(string_unclosed_backslash, "[\"abc\\")                                                    \
    N(string_apostrophes, "['abc']")                                                            \
    N(string_backticks, "[`abc`]")                                                              \
    N(string_typographic_quotes, "[\xE2\x80\x9C" "abc\xE2\x80\x9D]")                            \
    N(string_bare, "[abc]")                                                                     \
    N(string_bare_accent, "[\xC3\xA9]")                                                         \
    N(string_newline, "[\"a\nb\"]")                                                             \
    N(string_carriage_return, "[\"a\rb\"]")                                                     \
    N(string_tab, "[\"a\tb\"]")                                                                 \
    N(string_backspace, "[\"a\bb\"]")                                                           \
    N(string_nul, "[\"a\0b\"]")                                                                 \
    N(string_control_01, "[\"\x01\"]")                                                          \
    N(string_control_1f, "[\"\x1F\"]")                                                          \
    N(string_control_late, "[\"12345678901234567890\x1F\"]")                                    \
    N(string_line_continuation, "[\"a\\\nb\"]")                                                 \
    N(string_escape_x, "[\"\\x00\"]")                                                           \
    N(string_escape_a, "[\"\\a\"]")                                                             \
    N(string_escape_v, "[\"\\v\"]")                                                             \
    N(string_escape_e, "[\"\\e\"]")                                                             \
    N(string_escape_zero, "[\"\\0\"]")                                                          \
    N(string_escape_apostrophe, "[\"\\'\"]")                                                    \
    N(string_escape_space, "[\"\\ \"]")                                                         \
    N(string_escape_nul_byte, "[\"\\\0\"]")                                                     \
    N(string_escape_emoji, "[\"\\\xF0\x9F\x8C\x80\"]")                                          \
    N(string_escape_high_byte, "[\"\\\xE5\"]")                                                  \
    N(string_escape_capital_u, "[\"\\U0041\"]")                                                 \
    N(string_escape_capital_n, "[\"\\N\"]")                                                     \
    N(string_u_no_digits, "[\"\\u\"]")                                                          \
    N(string_u_one_digit, "[\"\\u0\"]")                                                         \
    N(string_u_three_digits, "[\"\\u00A\"]")                                                    \
    N(string_u_no_hex, "[\"\\u00G0\"]")                                                         \
    N(string_u_space, "[\"\\u 041\"]")                                                          \
    N(string_u_plus, "[\"\\u+041\"]")                                                           \
    N(string_u_braces, "[\"\\u{41}\"]")                                                         \
    N(string_u_at_end, "[\"\\u")                                                                \
    N(string_u_digits_at_end, "[\"\\u12")                                                       \
    N(string_u_at_sign, "[\"\\u@041\"]")                                                        \
    N(string_u_back_tick, "[\"\\u`041\"]")                                                      \
    N(string_u_control_that_lower_cases_to_digit, "[\"\\u\x10" "123\"]")                        \
    N(string_u_high_byte, "[\"\\u\xE5\"]")                                                      \
    N(string_pair_with_broken_half, "[\"\\uD800\\u\"]")                                         \
    N(string_pair_with_short_half, "[\"\\uD834\\uDd\"]")                                        \
    N(string_pair_with_bad_escape, "[\"\\uD800\\x\"]")                                          \
    N(string_after_string, "\"a\" \"b\"")                                                       \
    N(string_concatenation, "[\"a\"+\"b\"]")                                                    \
    N(string_raw_prefix, "[r\"a\"]")                                                            \
    I(string_lone_high_surrogate, "[\"\\uD800\"]", true, "grammar allows it; reads as U+FFFD")  \
    I(string_lone_low_surrogate, "[\"\\uDC00\"]", true, "grammar allows it; reads as U+FFFD")   \
    I(string_swapped_surrogates, "[\"\\uDD1E\\uD834\"]", true, "grammar allows it; two U+FFFD") \
    I(string_two_high_surrogates, "[\"\\uD800\\uD800\"]", true, "grammar allows it; two U+FFFD") \
    I(string_high_surrogate_then_letter, "[\"\\uD800a\"]", true, "grammar allows it; U+FFFD and a") \
    I(string_high_surrogate_then_newline, "[\"\\uD800\\n\"]", true, "grammar allows it; U+FFFD and a newline") \
    I(string_high_surrogate_then_other_escape, "[\"\\uD888\\u1234\"]", true, "grammar allows it; U+FFFD and U+1234") \
    /* section 8.1: UTF-8 and nothing else */                                                   \
    I(encoding_byte_order_mark, "\xEF\xBB\xBF{}", false, "the RFC allows to ignore it; we are strict") \
    I(encoding_utf16_le, "[\0\"\0a\0\"\0]\0", false, "texts are UTF-8")                         \
    I(encoding_utf16_be, "\0[\0\"\0a\0\"\0]", false, "texts are UTF-8")                         \
    I(encoding_utf16_le_with_mark, "\xFF\xFE[\0]\0", false, "texts are UTF-8")                  \
    I(encoding_utf32_le, "[\0\0\0]\0\0\0", false, "texts are UTF-8")                            \
    I(encoding_latin_1, "[\"\xE9\"]", false, "not UTF-8")                                       \
    I(encoding_windows_quote, "[\"\x93" "a\x94\"]", false, "not UTF-8")                         \
    I(encoding_lone_continuation, "[\"\x81\"]", false, "not UTF-8")                             \
    I(encoding_truncated_two, "[\"\xC3\"]", false, "not UTF-8")                                 \
    I(encoding_truncated_three, "[\"\xE2\x82\"]", false, "not UTF-8")                           \
    I(encoding_truncated_four, "[\"\xF0\x9F\x98\"]", false, "not UTF-8")                        \
    I(encoding_truncated_at_end, "\"\xE2\x82", false, "not UTF-8")                              \
    I(encoding_truncated_four_at_end, "\"\xF0\x9F\x98", false, "not UTF-8")                     \
    I(encoding_overlong_slash_two, "[\"\xC0\xAF\"]", false, "overlong forms hide characters")   \
    I(encoding_overlong_slash_three, "[\"\xE0\x80\xAF\"]", false, "overlong forms hide characters") \
    I(encoding_overlong_slash_four, "[\"\xF0\x80\x80\xAF\"]", false, "overlong forms hide characters") \
    I(encoding_overlong_highest_two, "[\"\xC1\xBF\"]", false, "overlong forms hide characters") \
    I(encoding_overlong_highest_three, "[\"\xE0\x9F\xBF\"]", false, "overlong forms hide characters") \
    I(encoding_overlong_highest_four, "[\"\xF0\x8F\xBF\xBF\"]", false, "overlong forms hide characters") \
    I(encoding_overlong_nul, "[\"\xC0\x80\"]", false, "overlong forms hide characters")         \
    I(encoding_five_bytes, "[\"\xF8\x88\x80\x80\x80\"]", false, "no such character")            \
    I(encoding_six_bytes, "[\"\xFC\x83\xBF\xBF\xBF\xBF\"]", false, "no such character")         \
    I(encoding_beyond_unicode, "[\"\xF4\x90\x80\x80\"]", false, "no such character")            \
    I(encoding_far_beyond_unicode, "[\"\xF4\xBF\xBF\xBF\"]", false, "no such character")        \
    I(encoding_first_surrogate, "[\"\xED\xA0\x80\"]", false, "surrogates are no characters")    \
    I(encoding_last_surrogate, "[\"\xED\xBF\xBF\"]", false, "surrogates are no characters")     \
    I(encoding_cesu_pair, "[\"\xED\xA0\xBD\xED\xB8\x80\"]", false, "surrogates are no characters") \
    I(encoding_ff, "[\"\xFF\"]", false, "no byte of UTF-8")                                     \
    I(encoding_fe, "[\"\xFE\"]", false, "no byte of UTF-8")                                     \
    I(encoding_good_then_bad, "[\"\xE6\x97\xA5\xD1\x88\xFA\"]", false, "not UTF-8")             \
    I(encoding_bad_third_byte, "[\"\xE2\x82\x28\"]", false, "not UTF-8")                        \
    I(encoding_bad_fourth_byte, "[\"\xF0\x9F\x98\x28\"]", false, "not UTF-8")                   \
    I(encoding_bad_late_in_long_string, "[\"12345678901234567890123456789\xC3\"]", false, "not UTF-8")
/* clang-format on */
