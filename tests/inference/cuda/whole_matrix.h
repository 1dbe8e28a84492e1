// Matrices with what lies between their rows.
#pragma once

#include <stein/inference/storage/matrix.h>

#include <vector>

namespace stein::test {

/// All numbers, those between the rows too.
inline std::vector<float> everything(const inference::Matrix<float>& matrix) {
  const inference::MatrixView<const float> view = matrix.view();
  return {view.data, view.data + view.rows * view.stride};
}

}  // namespace stein::test
