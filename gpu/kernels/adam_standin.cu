extern "C" __global__ void adam_standin(float* t, float* f, float* s, const float* g, const unsigned char* touched, unsigned n, unsigned dim, unsigned others, float wd, float fd, float fg, float sd, float sg, float ss, float rate, float eps) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    bool own = touched[at / dim] != 0;
    if (!own && !others) return;
    float x = wd * t[at] + (own ? g[at] : 0.0f);
    f[at] = fd * f[at] + fg * x;
    s[at] = sd * s[at] + sg * x * x;
    t[at] -= rate * f[at] / (sqrtf(s[at]) * ss + eps);
}
