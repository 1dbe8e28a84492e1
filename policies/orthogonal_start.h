// Random orthogonal matrices as the start of a network.
#pragma once

#include <stein/inference/particles.h>

namespace stein::policies {

/// Replaces every weight matrix [p, d] of every particle, which must hold independent normals, by `gain` times the
/// nearest thing to an orthogonal matrix that has this shape: orthonormal columns where p ≥ d, else orthonormal rows,
/// uniformly distributed (Saxe, McClelland & Ganguli 2014; Mezzadri 2007 for the signs of the QR decomposition). Biases
/// and everything else stay.
void orthogonalise(inference::Particles<float>& particles, double gain);

}  // namespace stein::policies
