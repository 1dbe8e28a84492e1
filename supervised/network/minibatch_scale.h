// By which rows the numbers that a network reads are scaled in training.
#pragma once

#include <stein/inference/storage/matrix_view.h>

#include <cstdint>

namespace stein::supervised {

/// Those of all rows of training, or those of the minibatch alone, place by place (Hernández et al. 2020).
enum class MinibatchScale : std::uint8_t { of_set, of_minibatch };

/// Every column less its mean, divided by its sd; one where all are alike becomes 0.
void standardise_columns(inference::MatrixView<float> numbers);

}  // namespace stein::supervised
