// Feeds of captions and of the features of images.
#pragma once

#include "fuzz/input.h"

namespace stein::test {

/// Captions and references of the COCO caption evaluation, in two files.
void read_coco(const Input& input);
/// A file in the form of Karpathy & Fei-Fei.
void read_karpathy(const Input& input);
/// Flickr's captions and the images of three parts, in four files.
void read_flickr(const Input& input);
/// Features in a .npy file.
void read_npy_features(const Input& input);
/// Features in a .safetensors file.
void read_safetensors_features(const Input& input);
/// Ids of images in a .txt file.
void read_ids_of_lines(const Input& input);
/// Ids of images in a .json file.
void read_ids_of_json(const Input& input);

}  // namespace stein::test
