// Texts between Python and C++, for every module in place of nanobind/stl/string.h: names of files may hold any bytes.
// A str becomes the bytes that the system knows the file by (os.fsencode); bytes that are not UTF-8 come back as \xNN.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

namespace nanobind::detail {

template <>
struct type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    if (!PyUnicode_Check(source.ptr())) return false;
    const object bytes = steal(PyUnicode_EncodeFSDefault(source.ptr()));
    if (!bytes) {
      PyErr_Clear();
      return false;
    }
    value.assign(PyBytes_AS_STRING(bytes.ptr()), std::size_t(PyBytes_GET_SIZE(bytes.ptr())));
    return true;
  }

  static handle from_cpp(const std::string& text, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "backslashreplace");
  }
};

}  // namespace nanobind::detail
