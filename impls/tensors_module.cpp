// The module of tensors has no code of its own: what it links provides its parts
// (impls/tensors/part.hpp).
