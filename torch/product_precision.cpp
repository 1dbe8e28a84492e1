#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <stein/torch/product_precision.h>

namespace stein::inference {

void allow_tf32(bool allowed) {
  at::globalContext().setAllowTF32CuDNN(allowed);
  at::globalContext().setAllowTF32CuBLAS(allowed);
}

MixedPrecision::MixedPrecision(Device device)
    : kind_(device.kind == Device::Kind::cuda ? c10::DeviceType::CUDA : c10::DeviceType::CPU),
      enabled_(at::autocast::is_autocast_enabled(kind_)),
      keeps_(at::autocast::is_autocast_cache_enabled()),
      type_(at::autocast::get_autocast_dtype(kind_)) {
  at::autocast::set_autocast_enabled(kind_, true);
  at::autocast::set_autocast_dtype(kind_, c10::kBFloat16);
  at::autocast::set_autocast_cache_enabled(false);
}

MixedPrecision::~MixedPrecision() {
  at::autocast::set_autocast_enabled(kind_, enabled_);
  at::autocast::set_autocast_dtype(kind_, type_);
  at::autocast::set_autocast_cache_enabled(keeps_);
}

}  // namespace stein::inference
